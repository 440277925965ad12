import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kmetrics
import kontext
from kmetrics import losses

PREDS = jnp.array([[1.0, 2.0], [3.0, 4.0]])
ZEROS = jnp.zeros((2, 2))
CONTEXT = {"preds": PREDS, "batch": {"y": ZEROS}}
L2 = losses.L2(preds="preds", targets="batch.y")  # raw 30 / 4 = 7.5


def linear_decay(step):
    return 1.0 - step / 10


@dataclasses.dataclass(frozen=True, kw_only=True)
class LogRatio(kmetrics.Loss):
    preds: kontext.Key = kontext.REQUIRED
    targets: kontext.Key = kontext.REQUIRED
    masked_fill = 1.0

    def get_values(self, preds, targets):
        return jnp.log(preds) - jnp.log(targets)


def test_a_loss_is_weight_times_the_mean():
    assert L2(CONTEXT) == 7.5
    assert L2.replace(weight=0.5)(CONTEXT) == 3.75
    assert L2(preds=PREDS, targets=ZEROS) == 7.5


def test_half_the_weight_is_exactly_half_the_value_and_half_the_gradient():
    x = jax.random.normal(jax.random.key(0), (7, 13))

    def total(weight, x):
        loss = L2.replace(weight=weight)
        return kmetrics.total_loss({"a": loss}, {"preds": x, "batch": {"y": 0 * x}})[0]

    whole, grad = jax.value_and_grad(lambda x: total(1.0, x))(x)
    half, half_grad = jax.value_and_grad(lambda x: total(0.5, x))(x)
    assert 2 * half == whole
    np.testing.assert_array_equal(2 * half_grad, grad)


@pytest.mark.spec("kmetrics-12")
@pytest.mark.case("086")
def test_a_masked_nan_changes_neither_value_nor_gradient():
    targets = jnp.array([[0.0, 0.0], [jnp.nan, jnp.nan]])
    mask = jnp.array([1, 0])

    def total(preds, targets):
        context = {"preds": preds, "batch": {"y": targets}, "mask": mask}
        return kmetrics.total_loss({"l2": L2.replace(mask="mask")}, context)[0]

    value, grads = jax.jit(jax.value_and_grad(total, (0, 1)))(PREDS, targets)
    assert value == 2.5
    np.testing.assert_array_equal(grads[0], [[1, 2], [0, 0]])
    np.testing.assert_array_equal(grads[1], [[-1, -2], [0, 0]])


def test_the_fill_of_a_user_loss_keeps_its_gradient_finite():
    def total(preds):
        context = {"p": preds, "t": jnp.ones(2), "m": jnp.array([True, False])}
        loss = LogRatio(preds="p", targets="t", mask="m")
        return kmetrics.total_loss({"x": loss}, context)[0]

    np.testing.assert_array_equal(jax.grad(total)(jnp.array([2.0, -1.0])), [0.5, 0])


@pytest.mark.spec("kmetrics-13")
def test_tiny_mask_weights_are_normalised_exactly():
    mask = jnp.full((2, 2), 1e-9)
    assert L2(preds=PREDS, targets=ZEROS, mask=mask) == pytest.approx(7.5, rel=1e-6)


@pytest.mark.parametrize(
    ("normalize_by", "expected"),
    [("mask", 5.0), ("values", 1.25), ("batch", 2.5), ("sum", 5.0)],
)
def test_each_normaliser_divides_by_what_it_names(normalize_by, expected):
    loss = L2.replace(normalize_by=normalize_by)
    mask = jnp.array([[True, False], [False, False]])
    five = 5.0**0.5 * jnp.ones((2, 2))
    got = loss(preds=five, targets=ZEROS, mask=mask)
    assert got == pytest.approx(expected, rel=1e-6)


def test_a_sum_over_batches_is_the_sum_over_their_union():
    loss = L2.replace(normalize_by="sum")
    first, second = (
        loss.get_state(preds=PREDS[i : i + 1], targets=ZEROS[:1]) for i in (0, 1)
    )
    assert (first | second).compute() == loss(CONTEXT) == 30.0
    assert loss.empty().compute() == 0.0
    doubled = {"l": loss.replace(weight=2.0)}
    total, states = jax.jit(lambda c: kmetrics.total_loss(doubled, c))(CONTEXT)
    assert total == states["l"].compute() == 60.0


@pytest.mark.parametrize("normalize_by", ["mask", "values", "batch", "sum"])
def test_padding_never_counts_in_any_normaliser(normalize_by):
    loss = L2.replace(normalize_by=normalize_by)
    padded = {
        "preds": jnp.concatenate([PREDS, jnp.full((3, 2), jnp.nan)]),
        "batch": {"y": jnp.zeros((5, 2))},
    }
    state = loss.get_state_from_context(padded, mask=jnp.arange(5) < 2)
    assert state.compute() == loss(CONTEXT)
    fractional = loss.get_state_from_context(
        padded, mask=(jnp.arange(5) < 2).astype(jnp.float32)
    )
    assert fractional.compute() == loss(CONTEXT)


@pytest.mark.spec("kmetrics-14")
def test_an_unknown_normaliser_is_refused_at_construction():
    with pytest.raises(ValueError, match="normalize_by='foo' is not known"):
        losses.L2(normalize_by="foo")


@pytest.mark.spec("kmetrics-15")
@pytest.mark.parametrize(
    "weight", [0.5, np.float32(0.5), np.float64(0.5), np.array(0.5), jnp.float32(0.5)]
)
def test_every_kind_of_number_is_a_weight(weight):
    loss = L2.replace(weight=weight)
    assert loss(CONTEXT) == 3.75
    assert hash(loss) == hash(L2.replace(weight=0.5))


@pytest.mark.parametrize("weight", [True, np.True_, "1.0", None, [1.0], np.ones(1)])
def test_what_is_no_number_is_no_weight(weight):
    with pytest.raises(TypeError, match="L2: the weight must be a number"):
        L2.replace(weight=weight)


@pytest.mark.spec("kmetrics-16")
def test_a_schedule_weighs_by_the_step_and_the_raw_value_is_kept():
    loss = L2.replace(weight=linear_decay)
    state = loss.get_state_from_context({**CONTEXT, "step": jnp.int32(5)})
    assert state.compute() == 3.75
    assert state.compute_raw() == 7.5
    first = loss.get_state_from_context({**CONTEXT, "step": 0})
    assert (first | state).compute_raw() == 7.5
    assert (first | state).compute() == 5.625


@pytest.mark.parametrize(
    ("given", "shown"), [(np.ones(2), r"float64\[2\]"), (None, "None"), ("x", "'x'")]
)
def test_a_schedule_gives_one_number(given, shown):
    loss = L2.replace(weight=lambda step: given)
    with pytest.raises(
        TypeError, match=f"(?s)L2: the weight must be one.*gave {shown}"
    ):
        loss({**CONTEXT, "step": 5})


@pytest.mark.spec("kmetrics-17")
def test_a_constant_weight_needs_no_step_in_the_context():
    assert "step" not in CONTEXT
    assert L2(CONTEXT) == 7.5
    assert L2.keypaths() == ("preds", "batch.y")
    assert "step" in L2.replace(weight=linear_decay).keypaths()


@pytest.mark.spec("kmetrics-18")
def test_a_schedule_without_a_step_is_an_error_that_names_the_loss():
    loss = L2.replace(weight=linear_decay)
    with pytest.raises(ValueError, match="L2 is a schedule") as error:
        kmetrics.total_loss({"recon": loss}, CONTEXT)
    assert "the context has no 'step'" in str(error.value)
    assert error.value.__notes__ == ["loss recon"]
    with pytest.raises(kmetrics.ScheduleError):
        loss.get_state(preds=PREDS, targets=ZEROS)


def test_a_batch_without_anything_that_counts_is_a_loss_of_zero():
    mask = jnp.zeros((2,))
    assert L2(preds=PREDS, targets=ZEROS, mask=mask) == 0.0
    assert L2(preds=jnp.zeros((0, 2)), targets=jnp.zeros((0, 2))) == 0.0
    assert L2.empty().compute() == L2.empty().compute_raw() == 0.0
    grad = jax.grad(
        lambda p: L2.get_state(preds=p, targets=ZEROS, mask=mask).compute()
    )(PREDS)
    np.testing.assert_array_equal(grad, np.zeros((2, 2)))


def test_a_partial_last_batch_weighs_by_its_size():
    loss = losses.L1(preds="p", targets="t")
    ones = loss.get_state(preds=jnp.ones(3), targets=jnp.zeros(3))
    zero = loss.get_state(preds=jnp.zeros(1), targets=jnp.zeros(1))
    assert (ones | zero).compute() == 0.75


def test_half_precision_is_computed_in_float32():
    small = jnp.full((1000,), 0.1, jnp.bfloat16)
    got = losses.L2()(preds=small, targets=jnp.zeros(1000, jnp.bfloat16))
    assert got == pytest.approx(float(small[0]) ** 2, rel=1e-6)
    large = jnp.full((100,), 100, jnp.float16)
    assert losses.L2()(preds=large, targets=jnp.zeros_like(large)) == 10_000
    seen = []

    class Spy(LogRatio):
        def get_values(self, preds, targets):
            seen.append(preds.dtype)
            return preds

    Spy().get_state(preds=small, targets=small)
    assert seen == [jnp.float32]


def test_total_is_the_sum_of_the_weighted_losses_and_names_nest():
    tree = {"a": L2, "more": {"b": L2.replace(weight=2.0)}}
    total, states = jax.jit(lambda c: kmetrics.total_loss(tree, c))(CONTEXT)
    assert total == 22.5
    assert (total.dtype, total.shape) == (jnp.float32, ())
    assert {name: s.compute() for name, s in states.items()} == {
        "a": 7.5,
        "more/b": 15.0,
    }
    assert states["more/b"].compute_raw() == 7.5


def test_losses_without_names_are_refused():
    for call in (kmetrics.total_loss, kmetrics.per_example_loss):
        with pytest.raises(TypeError, match="names, each to a loss\n  got list"):
            call([L2], CONTEXT)
    with pytest.raises(TypeError, match="names, each to a metric\n  got Mean"):
        kmetrics.Collection(kmetrics.Mean())


def test_no_losses_total_zero():
    total, states = kmetrics.total_loss({}, CONTEXT)
    assert (float(total), states) == (0.0, {})


def test_states_of_losses_carry_no_gradient():
    def total(preds):
        value, states = kmetrics.total_loss({"a": L2}, {**CONTEXT, "preds": preds})
        return value + states["a"].compute()

    np.testing.assert_array_equal(jax.grad(total)(PREDS), 2 * PREDS / 4)


def test_the_mask_goes_only_to_losses_that_read_examples():
    decay = losses.L2(preds="params.w", targets="params.zero")
    context = {**CONTEXT, "params": {"w": jnp.ones(2), "zero": jnp.zeros(2)}}
    _, states = kmetrics.total_loss(
        {"data": L2, "decay": decay},
        context,
        mask=jnp.array([True, False]),
        example_roots=frozenset({"batch", "preds"}),
    )
    assert states["data"].compute() == 2.5
    assert states["decay"].compute() == 1.0


def test_the_mask_of_a_loss_off_the_examples_still_fills_its_inputs():
    loss = losses.L2(preds="params.w", targets="params.z", mask="params.m")

    def total(w):
        params = {"w": w, "z": jnp.zeros(2), "m": jnp.array([True, False])}
        return kmetrics.total_loss(
            {"decay": loss},
            {"params": params},
            mask=jnp.ones(5),
            example_roots={"batch"},
        )[0]

    grad = jax.grad(total)(jnp.array([3.0, jnp.nan]))
    np.testing.assert_array_equal(grad, [6.0, 0.0])


def test_inputs_from_elsewhere_are_not_filled_by_the_mask():
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class ToAnchor(kmetrics.Loss):
        preds: kontext.Key = "preds"
        anchors: kontext.Key = "params.anchors"

        def get_values(self, preds, anchors):
            return jnp.sum(preds @ anchors.T, axis=-1)

    @dataclasses.dataclass(frozen=True, kw_only=True)
    class ToShared(ToAnchor):
        shared_inputs = ("anchors",)

    # As many anchors as examples: their shapes alone do not tell them apart.
    context = {**CONTEXT, "params": {"anchors": jnp.ones((2, 2))}}
    mask = jnp.array([True, False])
    state = ToAnchor().get_state_from_context(
        context, mask=mask, example_roots={"preds"}
    )
    assert state.compute() == 6.0
    assert ToShared().get_state_from_context(context, mask=mask).compute() == 6.0


def test_a_sample_weight_multiplies_and_is_not_in_the_normaliser():
    loss = L2.replace(sample_weight="w")
    doubled = {**CONTEXT, "w": jnp.array([2.0, 1.0])}
    assert loss(doubled) == (2 * 5 + 25) / 4
    assert loss({**CONTEXT, "w": jnp.array([[2.0, 1.0], [0.0, 0.0]])}) == 6 / 4
    # A weight of 0 hides a NaN, and still counts in the mean.
    dirty = {**CONTEXT, "preds": PREDS.at[1].set(jnp.nan), "w": jnp.array([1.0, 0.0])}

    def total(preds):
        return kmetrics.total_loss({"a": loss}, {**dirty, "preds": preds})[0]

    value, grad = jax.value_and_grad(total)(dirty["preds"])
    assert value == 5 / 4
    np.testing.assert_array_equal(grad, [[0.5, 1], [0, 0]])
    with pytest.raises(kmetrics.MaskShapeError, match="sample_weight"):
        loss({**CONTEXT, "w": jnp.ones(3)})


def test_get_values_is_told_the_mask_if_it_asks():
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Spread(kmetrics.Loss):
        x: kontext.Key = "preds"

        def get_values(self, x, mask=None):
            keep = jnp.ones(2, bool) if mask is None else mask != 0
            mean = jnp.sum(jnp.where(keep[:, None], x, 0), axis=0) / keep.sum()
            return jnp.abs(x - mean)

    assert Spread()(CONTEXT) == 1.0
    assert Spread(mask="m")({**CONTEXT, "m": jnp.array([1, 0])}) == 0.0
    padded = Spread().get_state_from_context(CONTEXT, mask=jnp.array([True, False]))
    assert padded.compute() == 0.0


def test_a_zero_weight_may_stay_in_the_total():
    kept = L2.replace(weight=0, keep_zero_weight=True)
    assert kmetrics.total_loss({"a": kept}, CONTEXT)[0] == 0
    context = {**CONTEXT, "preds": PREDS / 0}
    assert jnp.isnan(kmetrics.total_loss({"a": kept}, context)[0])


def test_a_loss_whose_weight_is_zero_does_no_harm_and_is_still_logged():
    off = L2.replace(weight=0)
    context = {**CONTEXT, "preds": PREDS / 0}
    total, states = kmetrics.total_loss({"off": off}, context)
    assert total == 0
    assert states["off"].compute() == 0
    assert states["off"].compute_raw() == np.inf


@pytest.mark.parametrize("losses_", [{"total": L2}, {"x": {"y": L2}, "total": L2}])
def test_no_loss_may_be_called_total(losses_):
    with pytest.raises(ValueError, match='named "total"'):
        kmetrics.total_loss(losses_, CONTEXT)


def test_what_is_no_loss_is_refused_by_name():
    metric = kmetrics.Mean(values="preds")
    with pytest.raises(TypeError, match="'a/b' is not a Loss"):
        kmetrics.total_loss({"a": {"b": metric}}, CONTEXT)


def test_the_keys_must_fit_get_values():
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Wrong(kmetrics.Loss):
        pred: kontext.Key = "preds"

        def get_values(self, preds):
            return preds

    with pytest.raises(kontext.SignatureMismatchError) as error:
        Wrong()(CONTEXT)
    assert error.value.missing == ("preds",)
    assert error.value.unexpected == ("pred",)
    with pytest.raises(TypeError):
        L2(preds=PREDS, target=ZEROS)


def test_a_loss_with_a_state_of_its_own_is_refused():
    with pytest.raises(kmetrics.StateDefinitionError, match="give get_values"):

        class Own(kmetrics.Loss):
            def get_state(self, preds):
                return kmetrics.AverageState.from_values(preds)


def test_a_loss_merges_exactly_over_many_batches():
    state = losses.L1().get_state(preds=jnp.array([0.1]), targets=jnp.array([0.0]))
    merged = losses.L1().empty()
    for _ in range(50):
        merged |= state
    assert merged.count.numpy() == 50
    exact = 50 * float(np.float32(0.1))
    assert merged.raw.numpy() == pytest.approx(exact, rel=2.0**-45)

"""From keys to keyword arguments, and the errors on the way."""

import dataclasses

import pytest

import kontext
from kontext import (
    REQUIRED,
    Key,
    KeyTree,
    Path,
    PathLookupError,
    PathTypeError,
    RequiredKeyError,
    SignatureMismatchError,
    resolve_from_keyed_obj,
    resolve_from_keypaths,
)


@dataclasses.dataclass
class Loss:
    preds: Key = REQUIRED
    targets: Key = REQUIRED
    mask: Key | None = None

    def get_state(self, preds, targets, mask=None):
        return preds, targets, mask


@dataclasses.dataclass
class Tree:
    values: KeyTree[int] = REQUIRED


CONTEXT = {
    "batch": {"image": 1, "label": 2, "nothing": None},
    "preds": {"logits": 3, "b0": 4},
}


def test_keys_give_keyword_arguments_and_none_is_left_out():
    loss = Loss(preds="preds.logits", targets=Path("batch", "label"))
    values = resolve_from_keyed_obj(CONTEXT, loss, func=loss.get_state)
    assert values == {"preds": 3, "targets": 2}
    assert loss.get_state(**values) == (3, 2, None)


def test_value_that_is_none_is_a_result():
    loss = Loss(preds="batch.nothing", targets="batch.label")
    assert resolve_from_keyed_obj(CONTEXT, loss)["preds"] is None


def test_component_without_keys_takes_nothing():
    assert resolve_from_keyed_obj(CONTEXT, object()) == {}


@pytest.mark.spec("kontext-52")
def test_tree_of_keys_gives_the_same_tree_of_values():
    tree = Tree(values=("batch.image", {"i": "preds.b0", "n": None, "l": [""]}))
    assert resolve_from_keyed_obj(CONTEXT, tree) == {
        "values": (1, {"i": 4, "n": None, "l": [CONTEXT]})
    }


@pytest.mark.spec("kontext-49")
def test_required_keys_are_reported_together():
    with pytest.raises(RequiredKeyError) as caught:
        resolve_from_keyed_obj({}, Loss())
    assert isinstance(caught.value, ValueError)
    assert caught.value.names == ("preds", "targets")
    assert str(caught.value) == (
        "Loss: required keys 'preds', 'targets' are not set\n"
        "  set them to a path into the context: "
        "Loss(preds='batch...', targets='batch...')"
    )


@pytest.mark.spec("kontext-50")
def test_bad_keys_are_reported_together():
    loss = Loss(preds="preds.logit", targets="batch.labels")
    with pytest.raises(PathLookupError) as caught:
        resolve_from_keyed_obj(CONTEXT, loss)
    assert str(caught.value) == (
        "Loss: 2 keys name nothing in the context\n"
        "  key 'preds': no 'logit' at path 'preds.logit'\n"
        "    preds.logit\n"
        "          ^\n"
        "    reached 'preds' (dict) with keys: 'b0', 'logits'\n"
        "    did you mean: preds.logits ?\n"
        "  key 'targets': no 'labels' at path 'batch.labels'\n"
        "    batch.labels\n"
        "          ^\n"
        "    reached 'batch' (dict) with keys: 'image', 'label', 'nothing'\n"
        "    did you mean: batch.label ?"
    )
    assert [error.path for error in caught.value.errors] == [
        "preds.logit",
        "batch.labels",
    ]
    assert caught.value.suggestions == ("preds.logits", "batch.label")


def test_message_stays_on_a_screen():
    with pytest.raises(PathLookupError) as caught:
        resolve_from_keypaths({}, {f"k{i}": f"no.{i}" for i in range(40)})
    assert len(str(caught.value).splitlines()) < 30
    assert "'k39'" in str(caught.value)


def test_signature_is_checked_before_anything_is_looked_up():
    def func(preds, weights, *, mask):
        raise AssertionError("never called")

    with pytest.raises(SignatureMismatchError) as caught:
        resolve_from_keyed_obj({}, Loss("no.preds", "no.targets"), func=func)
    error = caught.value
    assert isinstance(error, TypeError)
    assert error.missing == ("weights",)
    assert error.unexpected == ("targets",)
    assert error.unset == ("mask",)
    text = str(error)
    assert "func(preds, weights, *, mask)" in text
    assert "arguments without a key: weights" in text
    assert "keys without an argument: targets" in text
    assert "mask: the key is None" in text


def test_function_that_takes_any_name_fits():
    def func(preds, **others):
        return others

    values = resolve_from_keyed_obj(CONTEXT, Loss("preds", "batch"), func=func)
    assert set(values) == {"preds", "targets"}


def test_builtin_function_without_weak_references_fits():
    class Call:
        __slots__ = ()

        def __call__(self, preds, targets):
            return preds

    assert resolve_from_keyed_obj(CONTEXT, Loss("preds", "batch"), func=Call())


def test_builtin_function_without_signature_takes_any_name():
    values = resolve_from_keyed_obj(CONTEXT, Loss("preds", "batch"), func=max)
    assert set(values) == {"preds", "targets"}


def test_bound_and_unbound_methods_have_signatures_of_their_own():
    loss = Loss("preds", "batch")
    assert resolve_from_keyed_obj(CONTEXT, loss, func=loss.get_state)
    with pytest.raises(SignatureMismatchError) as caught:
        resolve_from_keyed_obj(CONTEXT, loss, func=Loss.get_state)
    assert caught.value.missing == ("self",)


def test_component_names_the_function_whose_signature_counts():
    @dataclasses.dataclass
    class Wrapper:
        inner: Loss

        def __kontext_keys__(self):
            return kontext.forward_keys(self.inner)

        def __kontext_func__(self):
            return self.inner.get_state

        def get_state(self, **values):
            return values

    good = Wrapper(Loss("preds.logits", "batch.label"))
    assert resolve_from_keyed_obj(CONTEXT, good, func=good.get_state) == {
        "preds": 3,
        "targets": 2,
    }
    bad = Wrapper(Loss("preds.logits", None))
    with pytest.raises(SignatureMismatchError) as caught:
        resolve_from_keyed_obj(CONTEXT, bad, func=bad.get_state)
    assert caught.value.unset == ("targets",)


@pytest.mark.parametrize("value", [3, b"x", object()])
def test_value_that_is_no_path_is_refused_with_its_key(value):
    with pytest.raises(PathTypeError, match="not a path") as caught:
        resolve_from_keyed_obj(CONTEXT, Loss("preds", value))
    assert any("'targets' of Loss" in note for note in caught.value.__notes__)


def test_error_inside_the_context_names_the_key():
    class Model:
        @property
        def out(self):
            raise RuntimeError("inner")

    with pytest.raises(RuntimeError, match="inner") as caught:
        resolve_from_keyed_obj({"m": Model()}, Loss("m.out", "m"))
    assert any("'preds' of Loss" in note for note in caught.value.__notes__)


def test_mapping_of_paths_resolves_and_keeps_none():
    paths = {"a": "batch.image", "b": None, "c": ["preds.b0"]}
    assert resolve_from_keypaths(CONTEXT, paths) == {"a": 1, "b": None, "c": [4]}
    with pytest.raises(RequiredKeyError) as required:
        resolve_from_keypaths(CONTEXT, {"a": REQUIRED})
    assert str(required.value) == (
        "required key 'a' is not set\n  set it to a path into the context"
    )
    with pytest.raises(PathLookupError) as missing:
        resolve_from_keypaths(CONTEXT, {"a": "zz"})
    assert str(missing.value).startswith("a key names nothing in the context\n")

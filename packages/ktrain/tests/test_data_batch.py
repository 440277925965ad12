import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ktrain.data import _batch

plans = st.builds(
    _batch.BatchPlan,
    num_examples=st.integers(1, 12),
    batch_size=st.integers(1, 14),
    num_epochs=st.integers(1, 4),
    remainder=st.sampled_from(_batch.REMAINDERS),
    span_epochs=st.booleans(),
)


def cut(plan):
    """The (start, size) of every batch, by a walk over the examples."""
    epochs = [
        range(e * plan.num_examples, (e + 1) * plan.num_examples)
        for e in range(plan.num_epochs)
    ]
    runs = [list(itertools.chain(*epochs))] if plan.span_epochs else map(list, epochs)
    batches = []
    for run in runs:
        for i in range(0, len(run), plan.batch_size):
            batch = run[i : i + plan.batch_size]
            if len(batch) == plan.batch_size or plan.remainder != "drop":
                batches.append((batch[0], len(batch)))
    return batches


def size(plan, position):
    return min(plan.left(position), plan.batch_size)


@settings(deadline=None)
@given(plans)
def test_batches_are_those_of_a_walk_over_the_stream(plan):
    walked = cut(plan)
    starts = [plan.start(0, i) for i in range(plan.count(0))]
    assert [(start, size(plan, start)) for start in starts] == walked
    incomplete = {length for _, length in walked} - {plan.batch_size}
    assert plan.incomplete(0) == incomplete


@settings(deadline=None)
@given(plans, st.data())
def test_continuing_at_a_batch_gives_the_rest_of_the_batches(plan, data):
    total = plan.count(0)
    done = data.draw(st.integers(0, total))
    origin = plan.start(0, done) if total else 0
    assert plan.count(origin) == total - done
    rest = [plan.start(origin, i) for i in range(total - done)]
    assert rest == [plan.start(0, i) for i in range(done, total)]


@settings(deadline=None)
@given(plans, st.data())
def test_continuing_anywhere_covers_the_rest_of_the_stream_once(plan, data):
    end = plan.num_epochs * plan.num_examples
    origin = data.draw(st.integers(0, end))
    starts = [plan.start(origin, i) for i in range(plan.count(origin))]
    given_out = [p for s in starts for p in range(s, s + size(plan, s))]
    assert given_out == sorted(set(given_out))
    if plan.remainder != "drop":
        assert given_out == list(range(origin, end))


def test_endless_batches_are_counted_as_none():
    plan = _batch.BatchPlan(10, 4, None, "drop", False)
    assert plan.count(0) is None
    assert plan.start(0, 10**6) == 10**6 // 2 * 10
    spanning = _batch.BatchPlan(10, 4, None, "pad", True)
    assert spanning.left(3) is None and spanning.start(2, 5) == 22
    assert spanning.incomplete(0) == set()


def test_rows_are_in_new_memory_and_nested_dicts_keep_their_form():
    tree = {"a": np.arange(6), "b": {"c": np.ones((6, 2))}}
    taken = _batch.take_rows(tree, np.array([5, 0]))
    copied = _batch.copy_rows(tree, slice(1, 3))
    assert taken["a"].tolist() == [5, 0] and copied["a"].tolist() == [1, 2]
    assert taken["b"]["c"].shape == copied["b"]["c"].shape == (2, 2)
    assert not np.shares_memory(copied["a"], tree["a"])
    assert not np.shares_memory(copied["b"]["c"], tree["b"]["c"])


def test_padding_appends_zeros_of_the_same_dtype():
    padded = _batch.pad_rows({"a": {"b": np.array([[7, 8]], np.uint8)}}, 3)["a"]["b"]
    assert padded.dtype == np.uint8
    assert padded.tolist() == [[7, 8], [0, 0], [0, 0]]

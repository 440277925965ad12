import functools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ktrain.data import InMemoryPipeline
from ktrain.errors import DataError


def pipeline(num_examples=10, **fields) -> InMemoryPipeline:
    ids = np.arange(1, num_examples + 1, dtype=np.int32)
    data = {"id": ids, "obs": {"x": np.stack([ids, -ids], 1).astype(np.float32)}}
    return InMemoryPipeline(loader=data, **{"batch_size": 4, **fields})


def real_ids(batch) -> list[int]:
    mask = batch.get("_mask", np.ones(len(batch["id"]), bool))
    return batch["id"][mask].tolist()


def same(one, other) -> bool:
    flat = [(one[key], other[key]) for key in one if key != "obs"]
    flat.append((one["obs"]["x"], other["obs"]["x"]))
    return one.keys() == other.keys() and all(
        a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
        for a, b in flat
    )


def joined(parts):
    """The global batch of the local batches of all processes."""
    batch = {
        key: np.concatenate([p[key] for p in parts]) for key in parts[0] if key != "obs"
    }
    return {**batch, "obs": {"x": np.concatenate([p["obs"]["x"] for p in parts])}}


settings_of = st.fixed_dictionaries(
    {
        "batch_size": st.sampled_from([1, 3, 4, 10, 11]),
        "shuffle": st.booleans(),
        "num_epochs": st.sampled_from([1, 2, 3]),
        "remainder": st.sampled_from(["drop", "keep", "pad"]),
        "span_epochs": st.booleans(),
        "seed": st.integers(0, 3),
    }
).filter(
    lambda f: (
        f["remainder"] != "drop"
        or f["batch_size"] <= 10 * (f["num_epochs"] if f["span_epochs"] else 1)
    )
)


@pytest.mark.spec("io-29")
@pytest.mark.case("P7", "109", "110")
@settings(max_examples=60, deadline=None)
@given(settings_of, st.sampled_from([1, 2]))
def test_resuming_at_every_position_equals_the_uninterrupted_stream(fields, processes):
    if fields["remainder"] == "keep" or fields["batch_size"] % processes:
        processes = 1
    batches = pipeline(**fields)
    opened = functools.partial(
        batches.open, process_index=processes - 1, process_count=processes
    )
    stream = list(opened())
    iterator = opened()
    for done in range(len(stream) + 1):
        state = json.loads(json.dumps(iterator.state()))
        resumed = opened()
        resumed.restore(state)
        assert (resumed.batches_done, resumed.num_batches) == (done, len(stream))
        rest = list(resumed)
        assert len(rest) == len(stream) - done
        assert all(map(same, rest, stream[done:]))
        if done < len(stream):
            assert same(next(iterator), stream[done])
            assert iterator.state(lag=1) == state


@pytest.mark.case("109", "110")
@pytest.mark.parametrize("num_examples", [10, 9000])
def test_ids_after_a_stop_in_the_second_epoch_are_those_of_the_straight_run(
    num_examples,
):
    batches = pipeline(num_examples, shuffle=True, num_epochs=3)
    straight = batches.open()
    stop = batches.num_batches() // 2
    for _ in range(stop):
        next(straight)
    resumed = batches.open()
    resumed.restore(straight.state())
    assert resumed.state()["epoch"] == 1
    rest = [real_ids(batch) for batch in straight]
    assert [real_ids(batch) for batch in resumed] == rest
    assert len(rest) == batches.num_batches() - stop


def test_a_position_taken_on_four_processes_continues_on_two():
    batches = pipeline(26, batch_size=8, shuffle=True)
    whole, four = batches.open(), batches.open(process_index=2, process_count=4)
    for _ in range(5):
        next(whole), next(four)
    two = [batches.open(process_index=i, process_count=2) for i in range(2)]
    for part in two:
        part.restore(four.state())
    for _ in range(5):
        assert same(joined([next(part) for part in two]), next(whole))


def test_the_state_is_small_plain_data_with_the_position_and_what_decides_it():
    iterator = pipeline(shuffle=True, seed=7).open()
    for _ in range(3):
        next(iterator)
    state = iterator.state()
    assert json.loads(json.dumps(state)) == state
    fingerprint = state.pop("fingerprint")
    assert len(fingerprint) == 32
    assert state == {
        "version": 1,
        "epoch": 1,
        "position": 14,  # two examples of the first epoch were dropped
        "batches": 3,
        "seed": 7,
        "pipeline": {
            "num_examples": 10,
            "batch_size": 4,
            "shuffle": True,
            "remainder": "drop",
            "span_epochs": False,
        },
    }


def test_lag_reaches_back_to_the_start_or_to_the_last_restore():
    iterator = pipeline().open()
    states = [iterator.state()]
    for _ in range(5):
        next(iterator)
        states.append(iterator.state())
    assert [iterator.state(lag=lag) for lag in range(6)] == states[::-1]
    with pytest.raises(ValueError, match="no state 6 batches ago"):
        iterator.state(lag=6)
    with pytest.raises(ValueError, match="no state -1"):
        iterator.state(lag=-1)
    iterator.restore(states[3])
    with pytest.raises(ValueError, match="no state 1 batches ago"):
        iterator.state(lag=1)


def test_seeking_a_million_batches_ahead_replays_nothing():
    iterator = pipeline(10_000, batch_size=64, shuffle=True).open()
    per_epoch = 10_000 // 64
    epoch, nth = divmod(10**6, per_epoch)
    state = iterator.state()
    state.update(batches=10**6, epoch=epoch, position=epoch * 10_000 + nth * 64)
    iterator.restore(state)
    assert iterator.batches_done == 10**6 and len(next(iterator)["id"]) == 64
    assert iterator.state(lag=1) == state


@pytest.mark.spec("io-32")
def test_other_data_is_refused_with_both_fingerprints():
    state = pipeline().open().state()
    other = InMemoryPipeline(loader={"id": np.arange(10, dtype="i4")}, batch_size=4)
    with pytest.raises(DataError) as caught:
        other.open().restore(state)
    message = str(caught.value)
    assert state["fingerprint"] in message and other.fingerprint() in message
    assert "fingerprint" in message and "batch_size" not in message


@pytest.mark.parametrize(
    ("changed", "row"),
    [
        ({"seed": 1}, "seed  saved 0  now 1"),
        ({"batch_size": 5}, "batch_size  saved 4  now 5"),
        ({"shuffle": True}, "shuffle  saved False  now True"),
        ({"remainder": "pad"}, "remainder  saved 'drop'  now 'pad'"),
        ({"span_epochs": True}, "span_epochs  saved False  now True"),
    ],
)
def test_another_order_is_refused_with_what_differs(changed, row):
    iterator = pipeline(**changed).open()
    next(iterator)
    before = iterator.state()
    with pytest.raises(DataError) as caught:
        iterator.restore(pipeline().open().state())
    assert row in str(caught.value) and str(caught.value).count("now ") == 1
    assert iterator.state() == before


def test_all_differences_are_listed_at_once():
    with pytest.raises(DataError) as caught:
        pipeline(12, seed=3, batch_size=6).open().restore(pipeline().open().state())
    for name in ("fingerprint", "seed", "num_examples", "batch_size"):
        assert name in str(caught.value)


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"version": 2}, "version 2"),
        ({"version": None}, "version None"),
        ({"position": -1}, "position is -1"),
        ({"position": 4.0}, "position is 4.0"),
        ({"batches": None}, "batches is None"),
        ({"epoch": 3}, "position 0 is not in epoch 3"),
        ({"pipeline": None}, "batch_size"),
    ],
)
def test_a_damaged_state_is_refused(change, part):
    iterator = pipeline().open()
    with pytest.raises(DataError, match=part):
        iterator.restore({**iterator.state(), **change})
    with pytest.raises(DataError, match="damaged: it is list"):
        iterator.restore([])


def test_a_run_may_be_made_longer_but_not_shorter_than_its_position():
    two = pipeline(num_epochs=2).open()
    for _ in range(3):
        next(two)
    longer = pipeline(num_epochs=3).open()
    longer.restore(two.state())
    assert longer.num_batches == 6 and len(list(longer)) == 3
    with pytest.raises(DataError, match="after the end of the data"):
        pipeline(num_epochs=1).open().restore(two.state())


@pytest.mark.spec("io-31")
@settings(max_examples=60, deadline=None)
@given(
    st.booleans(),
    st.booleans(),
    st.sampled_from(["keep", "pad"]),
    st.integers(1, 11),
    st.integers(1, 11),
    st.data(),
)
def test_another_batch_size_continues_with_the_next_example(
    shuffle, span, remainder, before, after, data
):
    fields = {
        "shuffle": shuffle,
        "span_epochs": span,
        "remainder": remainder,
        "num_epochs": 2,
    }
    first = pipeline(batch_size=before, **fields).open()
    stream = [
        i for batch in pipeline(batch_size=before, **fields) for i in real_ids(batch)
    ]
    seen = []
    for _ in range(data.draw(st.integers(0, first.num_batches))):
        seen += real_ids(next(first))
    second = pipeline(batch_size=after, **fields).open()
    second.restore(first.state(), mode="position")
    left = second.num_batches - second.batches_done
    rest = [real_ids(batch) for batch in second]
    assert len(rest) == left
    assert seen + [i for ids in rest for i in ids] == stream


def test_a_shifted_position_can_be_saved_and_restored_again():
    first = pipeline().open()
    next(first)
    second = pipeline(batch_size=3).open()
    second.restore(first.state(), mode="position")
    assert next(second)["id"].tolist() == [5, 6, 7]
    third = pipeline(batch_size=3).open()
    third.restore(second.state())
    assert third.batches_done == 2
    assert next(third)["id"].tolist() == next(second)["id"].tolist() == [8, 9, 10]
    assert next(third)["id"].tolist() == next(second)["id"].tolist() == [1, 2, 3]


def test_only_the_batch_size_may_differ_in_position_mode():
    with pytest.raises(DataError, match="seed"):
        pipeline(batch_size=3, seed=1).open().restore(
            pipeline().open().state(), mode="position"
        )
    with pytest.raises(ValueError, match="'nearest'"):
        pipeline().open().restore(pipeline().open().state(), mode="nearest")

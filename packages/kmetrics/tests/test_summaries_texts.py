"""Texts and points."""

import jax
import numpy as np
import pytest

import kmetrics
from kmetrics.summaries import ShowPointCloud, ShowTexts, Text

IDS = np.array([[1, 2], [3, 4], [5, 6]])


def decode(ids):
    return "-".join(map(str, ids))


def test_token_ids_become_texts_when_the_value_is_computed():
    metric = ShowTexts(texts="t", num_texts=2, decode=decode)
    of = jax.jit(metric.get_state_from_context)
    state = of({"t": IDS}, mask=np.array([False, True, True]))
    assert state.compute() == Text(("3-4", "5-6"))
    assert (of({"t": IDS}) | state).compute().texts == ("1-2", "3-4")
    assert metric.empty().compute() == Text(())
    with pytest.raises(TypeError, match=r"decode must give a text.*\n  got ndarray"):
        metric.replace(decode=np.asarray)(texts=IDS)
    with pytest.raises(TypeError, match=r"texts must be token ids.*\n  got float32"):
        metric(texts=IDS.astype(np.float32))


def test_texts_on_the_host_are_shown_in_their_order():
    metric = ShowTexts(num_texts=3)
    first = metric.get_state(texts=["a", "b"])
    second = metric.get_state(
        texts=np.array([b"c", b"d", b"e"]), mask=np.array([False, True, True])
    )
    assert (first | second).compute() == Text(("a", "b", "d"))
    assert (second | first).compute() == Text(("d", "e", "a"))
    # Once it is full, nothing is copied.
    full = first | second
    assert (full | first).texts is full.texts
    assert (metric.empty() | first).compute() == (first | metric.empty()).compute()
    assert (first | (second | first)).compute() == ((first | second) | first).compute()
    states = kmetrics.Collection({"t": metric}).merge({"t": first}, {"t": second})
    assert states["t"].compute().texts == ("a", "b", "d")
    assert first.finalize().compute() == first.compute()
    # An array of texts of one width would drop a NUL at the end.
    assert metric(texts=["a\0", "long"]).texts == ("a\0", "long")
    with pytest.raises(TypeError, match="expected texts, got list"):
        metric(texts=["a", ["b"]])


def test_texts_that_are_numbers_and_options_that_do_not_fit():
    with pytest.raises(TypeError, match=r"give decode= a function"):
        ShowTexts()(texts=IDS)
    with pytest.raises(TypeError, match=r"texts are numbers, int32\[3, 2\]"):
        ShowTexts()(texts=jax.numpy.asarray(IDS, "int32"))
    with pytest.raises(TypeError, match="the mask is traced"):
        jax.jit(lambda m: ShowTexts().get_state(texts=["a"], mask=m))(np.ones(1, bool))
    with pytest.raises(ValueError, match="needs token ids and decode"):
        ShowTexts(selection="random")
    with pytest.raises(TypeError, match="decode must be a function"):
        ShowTexts(decode="utf-8")
    with pytest.raises(ValueError, match="num_texts must be 1 or more"):
        ShowTexts(num_texts=0)


POINTS = np.arange(12, dtype=np.float32).reshape(2, 2, 3)


@pytest.mark.spec("kmetrics-78")
def test_points_need_no_colours_and_are_cut_after_a_merge():
    metric = ShowPointCloud(points="p", num_points=2)
    got = metric({"p": POINTS})
    assert np.array_equal(got.points, POINTS[0]) and got.colors is None
    state = metric.get_state(points=POINTS[1])
    merged = state | metric.get_state(points=POINTS[0])
    assert np.array_equal(merged.compute().points, POINTS[1])
    assert len(metric.empty().compute()) == 0


def test_points_keep_their_colours_and_their_config():
    config = {"material": {"size": 0.1}}
    metric = ShowPointCloud(num_points=3, config=config)
    mask = np.array([[True, False], [True, True]])
    got = metric(points=POINTS, colors=POINTS / 11, mask=mask)
    assert np.array_equal(got.points, POINTS.reshape(4, 3)[[0, 2, 3]])
    want = np.round(POINTS.reshape(4, 3)[[0, 2, 3]] / 11 * 255)
    assert np.array_equal(got.colors, want) and got.colors.dtype == np.uint8
    assert got.config == config
    whole = metric(points=POINTS, mask=np.array([False, True]))
    assert np.array_equal(whole.points, POINTS[1])
    with pytest.raises(ValueError, match=r"points must be \[\*b, n, 3\]"):
        metric(points=POINTS[..., :2])
    with pytest.raises(ValueError, match=r"colors \[2, 3\]"):
        metric(points=POINTS, colors=POINTS[0])
    with pytest.raises(TypeError, match="colors must be floats in 0 to 1"):
        metric(points=POINTS, colors=POINTS.astype(np.int32))
    with pytest.raises(TypeError, match=r"points = .* is not Real"):
        metric(points=POINTS.astype(complex))
    with pytest.raises(TypeError, match="config must be a mapping"):
        ShowPointCloud(config="small")

import math

import jax
import numpy as np
import pytest

import kmetrics
from kmetrics import BitsPerByte, TokenAccuracy

# Two texts of three tokens; the last one of the second is padding.
LOGITS = np.log(np.float32([[[0.5, 0.25, 0.25]] * 3, [[0.25, 0.5, 0.25]] * 3]))
TOKENS = np.array([[0, 1, 0], [1, 1, -1]])
BYTES = np.array([4, 3])


def test_each_token_counts_once_whatever_the_batches():
    metric = TokenAccuracy(ignore_index=-1)
    parts = [metric.get_state(logits=LOGITS[i], labels=TOKENS[i]) for i in (0, 1)]
    assert (parts[0] | parts[1]).compute() == pytest.approx(4 / 5)
    kept = metric(logits=LOGITS, labels=TOKENS, mask=np.array([True, False]))
    assert kept == pytest.approx(2 / 3)
    kept = metric(logits=LOGITS, labels=TOKENS, mask=np.array([[0, 1, 0], [0, 0, 1]]))
    assert kept == 0.0


def test_bits_per_byte_worked_by_hand():
    # Bits: 1 2 1 in four bytes, 1 1 in three.
    metric = BitsPerByte(ignore_index=-1)
    inputs = {"logits": LOGITS, "labels": TOKENS, "num_bytes": BYTES}
    assert metric(**inputs) == pytest.approx(6 / 7, rel=1e-6)
    one = metric(**inputs, mask=np.array([True, False]))
    assert one == pytest.approx(4 / 4, rel=1e-6)
    tokens = np.array([[False] * 3, [True, False, True]])
    assert metric(**inputs, mask=tokens) == pytest.approx(1 / 3, rel=1e-6)
    perplexity = kmetrics.Perplexity(ignore_index=-1)(logits=LOGITS, labels=TOKENS)
    assert 5 * math.log2(perplexity) == pytest.approx(6, rel=1e-6)


def test_without_any_byte_there_is_no_value():
    assert np.isnan(BitsPerByte().empty().compute())
    zero = BitsPerByte(on_empty="zero", ignore_index=-1)
    inputs = {"logits": LOGITS, "labels": TOKENS, "num_bytes": BYTES}
    assert zero(**inputs, mask=np.zeros(2)) == 0.0


def test_sizes_that_do_not_fit_are_named():
    with pytest.raises(TypeError, match="num_bytes"):
        BitsPerByte()(logits=LOGITS, labels=TOKENS, num_bytes=BYTES[:1])


def test_a_text_all_of_whose_tokens_are_ignored_has_no_bytes():
    tokens = {"logits": np.zeros((2, 3, 4), np.float32)}
    labels = np.array([[0, 1, -1], [-1, -1, -1]])
    metric = BitsPerByte(ignore_index=-1)
    got = metric(**tokens, labels=labels, num_bytes=np.array([8, 100]))
    # Two tokens of two bits each, in eight bytes.
    assert got == pytest.approx(0.5, rel=1e-6)


def test_texts_of_less_than_no_bytes_are_refused_and_nan_under_jit():
    inputs = {"logits": LOGITS[:1], "labels": TOKENS[:1]}
    with pytest.raises(ValueError, match="BitsPerByte: num_bytes holds a number below"):
        BitsPerByte()(**inputs, num_bytes=np.array([-3]))
    get_state = jax.jit(lambda n: BitsPerByte().get_state(**inputs, num_bytes=n))
    assert math.isnan(get_state(np.array([-3])).compute())
    assert get_state(np.array([4])).compute() == pytest.approx(1.0)

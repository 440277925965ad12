import math

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kmetrics
from kmetrics._texts import num_common, num_edits
from kmetrics.text import Bleu, Cer, ChrF, ExactMatch, RougeL, RougeN, Wer

# Hits and n-grams per order 15/15, 12/13, 8/11, 6/9; 15 words for references of 16.
PREDS = ["the cat is on the mat today", "there is a dog in the garden now"]
TARGETS = [
    ["the cat sat on the mat today", "a cat is on the mat"],
    ["there is a dog in the big garden now"],
]
SAID, HEARD = ["the cat sat down", "hello world"], ["the cat sat", "hello word"]
# Computed once with sacrebleu 2.6.0 (tokenize="none") and rouge-score 0.1.2; of the
# latter the F-scores beside the first reference.
ELSEWHERE = {
    "bleu": 0.7651701486184888,
    "chrf": 0.8050428777292652,
    "chrf++": 0.8085387778048666,
    "rouge2": 0.7333333333333333,
    "rougeL": 0.8991596638655461,
}
words = st.lists(st.sampled_from("abc"), max_size=7)


def test_bleu_of_the_examples_has_its_counts():
    state = Bleu().get_state(preds=PREDS, targets=TARGETS)
    plain = state.plain()
    assert plain.hits.tolist() == [15, 12, 8, 6]
    assert plain.in_preds.tolist() == [15, 13, 11, 9]
    penalty = math.exp(1 - 16 / 15)
    assert penalty == pytest.approx(0.9355069850)
    expected = (15 / 15 * 12 / 13 * 8 / 11 * 6 / 9) ** 0.25 * penalty
    assert expected == pytest.approx(0.7651701486)
    assert state.compute() == pytest.approx(expected, rel=1e-12)


def test_the_closest_reference_sets_the_length_and_a_tie_the_shorter():
    def ref_words(*references):
        state = Bleu().get_state(preds=["a b c d"], targets=[references])
        return state.plain().in_refs[0]

    assert ref_words("a b c d e f g", "a b c") == 3
    assert ref_words("a b c d e", "a b c") == 3
    assert ref_words("a b c d e", "a b") == 5


def test_n_grams_count_no_more_often_than_in_a_reference():
    one = Bleu(max_order=1)
    assert one(preds=["the the the the"], targets=["the cat on the mat"]) == (
        pytest.approx(2 / 4 * math.exp(1 - 5 / 4))
    )


def test_without_a_hit_in_an_order_bleu_is_zero_unless_it_is_smoothed():
    texts = {"preds": ["a b c d"], "targets": ["a c b d"]}
    assert Bleu()(**texts) == 0.0
    # 4/4, then (0 + 1) / (3 + 1), (0 + 1) / (2 + 1), (0 + 1) / (1 + 1).
    assert Bleu(smoothing="add1")(**texts) == pytest.approx((1 / 24) ** 0.25)


def test_word_and_character_errors_of_the_examples():
    assert Wer()(preds=HEARD, targets=SAID) == pytest.approx(2 / 6)
    assert Cer()(preds=HEARD, targets=SAID) == pytest.approx(6 / 27)
    assert Wer()(preds=["a b"], targets=["x"]) == 2.0
    assert np.isnan(Wer()(preds=["a b"], targets=[""]))
    assert Wer()(preds=["a c"], targets=[["a b c d e", "a d"]]) == 0.5


@settings(max_examples=60, deadline=None)
@given(words, words)
def test_edits_and_common_words_are_those_of_their_definition(a, b):
    def edits(a, b):
        if not a or not b:
            return len(a) + len(b)
        rest = edits(a[1:], b[1:])
        if a[0] == b[0]:
            return rest
        return 1 + min(rest, edits(a[1:], b), edits(a, b[1:]))

    def common(a, b):
        if not a or not b:
            return 0
        if a[0] == b[0]:
            return 1 + common(a[1:], b[1:])
        return max(common(a[1:], b), common(a, b[1:]))

    assert num_edits(a, b) == edits(a, b)
    assert num_common(a, b) == common(a, b)


def test_rouge_is_the_mean_of_shares_worked_by_hand():
    texts = {"preds": ["a b c d", "x"], "targets": ["a c b", "y"]}
    # Common words: 3 of 4 and 3; common pairs: none; in order: a c or a b.
    assert RougeN()(**texts) == pytest.approx((6 / 7 + 0) / 2)
    assert RougeN(n=2)(**texts) == 0.0
    assert RougeL()(**texts) == pytest.approx((4 / 7 + 0) / 2)
    assert RougeL(score="recall")(**texts) == pytest.approx((2 / 3 + 0) / 2)
    assert RougeL(score="precision")(**texts) == pytest.approx((2 / 4 + 0) / 2)
    assert RougeN()(preds=["a b"], targets=[["c", "a d"]]) == 0.5


def test_chrf_worked_by_hand():
    # Characters 2 of 3, pairs 1 of 2 on both sides: precision = recall = 7 / 12.
    assert ChrF(order=2)(preds=["ab c"], targets=["abd"]) == pytest.approx(7 / 12)
    # Precision (2/2 + 1/1) / 2, recall (2/3 + 1/2) / 2; order 3 has no prediction.
    expected = 5 * 1 * 7 / 12 / (4 * 1 + 7 / 12)
    assert ChrF(order=3)(preds=["ab"], targets=["abd"]) == pytest.approx(expected)
    words = ChrF(order=1, word_order=1)
    assert words(preds=["ab cd"], targets=["ab dc"]) == pytest.approx((1 + 1 / 2) / 2)
    assert ChrF()(preds=["xy"], targets=["abd"]) == 0.0


def test_it_agrees_with_sacrebleu_and_rouge_score():
    assert Bleu()(preds=PREDS, targets=TARGETS) == pytest.approx(ELSEWHERE["bleu"])
    assert ChrF()(preds=PREDS, targets=TARGETS) == pytest.approx(ELSEWHERE["chrf"])
    plus = ChrF(word_order=2)(preds=PREDS, targets=TARGETS)
    assert plus == pytest.approx(ELSEWHERE["chrf++"])
    first = {"preds": PREDS, "targets": [references[0] for references in TARGETS]}
    assert RougeN(n=2)(**first) == pytest.approx(ELSEWHERE["rouge2"])
    assert RougeL()(**first) == pytest.approx(ELSEWHERE["rougeL"])


def test_an_exact_match_may_ignore_case_and_space():
    texts = {"preds": ["Yes ", "no"], "targets": ["yes", ["nope", "no"]]}
    assert ExactMatch()(**texts) == 0.5
    assert ExactMatch(lowercase=True, normalize=str.strip)(**texts) == 1.0


def test_any_split_and_any_order_gives_the_same_bits():
    for metric in (Bleu(), ChrF(), Wer(), ExactMatch()):
        whole = metric.get_state(preds=PREDS, targets=TARGETS)
        one, two = (
            metric.get_state(preds=PREDS[i : i + 1], targets=TARGETS[i : i + 1])
            for i in (0, 1)
        )
        nothing = metric.get_state(preds=[], targets=[])
        for merged in (one | two, two | one, metric.empty() | one | nothing | two):
            assert merged.compute() == whole.compute()
        assert np.isnan(metric.empty().compute())
        assert metric.replace(on_empty="zero").empty().compute() == 0.0


def test_a_mask_drops_examples_that_are_no_texts_at_all():
    context = {"text": ["a b", None], "label": ["a b", None]}
    collection = kmetrics.Collection({"wer": Wer(preds="text", targets="label")})
    states = collection.get_states(context, mask=np.array([[True], [False]]))
    assert collection.compute(states) == {"wer": 0.0}


def test_bytes_and_arrays_of_texts_are_read():
    texts = {"preds": np.array([b"a b"]), "targets": np.array([["a b", "c"]])}
    assert Wer()(**texts) == 0.0
    assert Wer(tokenize=lambda text: text.split("-"))(
        preds=["a-b"], targets=["a-c"]
    ) == pytest.approx(0.5)


def test_what_cannot_be_compared_is_refused_and_leaves_the_state_alone():
    state = Wer().get_state(preds=["a"], targets=["b"])
    with pytest.raises(TypeError, match=r"Wer: preds\[0\] is not a text\n  got 3"):
        state |= Wer().get_state(preds=[3], targets=["b"])
    with pytest.raises(TypeError, match="Bleu: preds must be a list of texts"):
        Bleu().get_state(preds="a", targets=["a"])
    with pytest.raises(ValueError, match="2 preds, 1 targets, a mask of 2"):
        Bleu().get_state(preds=["a", "b"], targets=["a"], mask=[1, 1])
    for no_list in ({"a"}, {"a": 1}, 3):
        with pytest.raises(TypeError, match="Wer: targets must be a list of texts"):
            Wer()(preds=["a"], targets=no_list)
    with pytest.raises(TypeError, match=r"targets\[1\] is not a text\n  got None"):
        Wer()(preds=["a", "b"], targets=["a", None])
    with pytest.raises(kmetrics.MaskShapeError, match=r"Wer: .*\n  got \[2, 2\]"):
        Wer()(preds=["a", "b"], targets=["a", "b"], mask=np.ones((2, 2)))
    with pytest.raises(ValueError, match="2 preds, 2 targets, a mask of 1"):
        Wer()(preds=["a", "b"], targets=["a", "b"], mask=True)
    with pytest.raises(ValueError, match="example 0 has no reference"):
        Bleu().get_state(preds=["a"], targets=[[]])
    with pytest.raises(ValueError, match="max_order"):
        Bleu(max_order=0)
    with pytest.raises(ValueError, match="beta must be above 0"):
        ChrF(beta=0)
    with pytest.raises(ValueError, match="score='f2'"):
        RougeL(score="f2")
    with pytest.raises(ValueError, match="n must be 1"):
        RougeN(n=0)
    assert state.compute() == 1.0


def test_a_mask_that_is_none_is_refused():
    texts = {"preds": ["a", "b"], "targets": ["a", "c"]}
    for mask in ([-1, 1], [np.nan, 1]):
        with pytest.raises(ValueError, match="the mask holds"):
            ExactMatch()(**texts, mask=np.array(mask))
    with pytest.raises(TypeError, match="ExactMatch: the mask must be bools or number"):
        ExactMatch()(**texts, mask=["yes", "no"])
    half = jnp.array([1, 0], jnp.bfloat16)
    assert ExactMatch()(**texts, mask=half) == 1.0

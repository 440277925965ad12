"""Which paths an error proposes."""

import pytest

import kontext


def suggestions(context, path):
    with pytest.raises(kontext.PathLookupError) as caught:
        kontext.get(context, path)
    return caught.value.suggestions


PARAMS = {"params": {"dec": {"kernel": 0}, "enc": {"out": {"kernel": [1, 2]}}}}


def test_last_name_of_a_path_is_looked_for_in_the_whole_context():
    assert suggestions({"preds": {"logits": 1}}, "outputs.logits") == ("preds.logits",)
    assert suggestions(PARAMS, "foo.kernel[0]") == (
        "params.dec.kernel",
        "params.enc.out.kernel[0]",
    )


def test_place_where_all_of_the_rest_exists_comes_first():
    assert suggestions(PARAMS, "enc.out.kernel") == (
        "params.enc.out.kernel",
        "params.dec.kernel",
    )


def test_first_name_is_looked_for_where_the_last_is_nowhere():
    assert suggestions(PARAMS, "enc.nowhere") == ("params.enc",)


def test_index_alone_is_looked_for_nowhere():
    assert suggestions(PARAMS, "[0]") == ()


def test_search_goes_six_levels_deep():
    tree = {"name": 1}
    for _ in range(5):
        tree = {"below": tree}
    assert suggestions(tree, "name") == ("below.below.below.below.below.name",)
    assert suggestions({"below": tree}, "name") == ()


def test_search_looks_at_two_thousand_nodes():
    near = {"first": {f"n{i}": {} for i in range(1500)}, "last": {"name": 1}}
    far = {"first": {f"n{i}": {"m": {}} for i in range(2500)}, "last": {"a": {"z": 1}}}
    assert suggestions(near, "name") == ("last.name",)
    assert suggestions(far, "z") == ()

"""`KeyGlob`: a field that names many places at once."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

import kontext
from kontext import (
    REQUIRED,
    GlobPath,
    Key,
    KeyGlob,
    PathLookupError,
    PathTypeError,
    forward_keys,
    get_keypaths,
    resolve_from_keyed_obj,
    resolve_from_keypaths,
)

if TYPE_CHECKING:
    from decimal import Decimal

PARAMS = {
    "enc": {"kernel": 1, "bias": 2},
    "heads": [{"kernel": 3, "bias": 4}],
    "scale": 5,
}


@dataclasses.dataclass
class Decay:
    weights: KeyGlob = REQUIRED
    scale: Key | None = None
    more: dict[str, KeyGlob] | None = None

    def __call__(self, weights, scale=1, more=None):
        return sum(weights.values()) * scale


def test_glob_key_gives_the_values_by_path():
    decay = Decay("**.kernel", scale="scale")
    found = resolve_from_keyed_obj(PARAMS, decay, func=decay.__call__)
    assert found == {"weights": {"enc.kernel": 1, "heads[0].kernel": 3}, "scale": 5}
    assert decay(**found) == 20


def test_glob_key_without_wildcard_gives_a_dict_all_the_same():
    found = resolve_from_keyed_obj(PARAMS, Decay("enc.bias"))
    assert found == {"weights": {"enc.bias": 2}}


def test_tree_of_glob_keys_gives_the_tree_of_dicts():
    found = resolve_from_keyed_obj(PARAMS, Decay("*.bias", more={"k": "enc.*"}))
    assert found == {
        "weights": {"enc.bias": 2},
        "more": {"k": {"enc.kernel": 1, "enc.bias": 2}},
    }


def test_glob_keys_come_as_glob_paths():
    paths = get_keypaths(Decay("**.bias"))
    assert paths == {"weights": GlobPath.parse("**.bias"), "scale": None, "more": None}
    assert isinstance(paths["weights"], GlobPath)
    assert kontext.required_keys(Decay()) == ("weights",)


def test_glob_key_that_names_nothing_is_an_error_like_any_other_key():
    with pytest.raises(PathLookupError) as caught:
        resolve_from_keyed_obj(PARAMS, Decay("**.kernl", scale="scal"))
    assert str(caught.value) == (
        "Decay: 2 keys name nothing in the context\n"
        "  key 'weights': nothing matches '**.kernl'\n"
        "    not in the context: 'kernl'\n"
        "    did you mean: kernel ?\n"
        "  key 'scale': no 'scal' at path 'scal'\n"
        "    scal\n"
        "    ^\n"
        "    the context (dict) with keys: 'enc', 'heads', 'scale'\n"
        "    did you mean: scale ?"
    )


def test_slice_outside_of_a_list_names_nothing():
    with pytest.raises(PathLookupError, match="nothing matches"):
        resolve_from_keyed_obj(PARAMS, Decay("heads[5:7]"))


@pytest.mark.parametrize("stray", ["**.bias", GlobPath.parse("**.bias")])
def test_wildcards_in_a_plain_key_are_refused_with_advice(stray):
    with pytest.raises(PathTypeError, match=r"kontext\.KeyGlob") as caught:
        resolve_from_keyed_obj(PARAMS, Decay("enc.bias", scale=stray))
    assert "the key 'scale' of Decay" in caught.value.__notes__[0]


@pytest.mark.parametrize("stray", ["**.bias", GlobPath.parse("**.bias")])
def test_wildcards_in_a_plain_key_that_is_forwarded_are_refused_alike(stray):
    with pytest.raises(PathTypeError, match=r"kontext\.KeyGlob") as caught:
        forward_keys(Decay("enc.bias", scale=stray), prefix="params")
    assert "the key 'scale' of Decay" in caught.value.__notes__[0]


def test_text_that_is_no_path_at_all_stays_a_syntax_error():
    with pytest.raises(kontext.PathSyntaxError):
        resolve_from_keyed_obj(PARAMS, Decay("enc.bias", scale="enc.b*"))


def test_wrapper_forwards_glob_keys():
    class Wrapper:
        def __kontext_keys__(self):
            return forward_keys(Decay("**.bias"), prefix="params")

    found = resolve_from_keyed_obj({"params": PARAMS}, Wrapper())
    biases = {"params.enc.bias": 2, "params.heads[0].bias": 4}
    assert found == {"weights": biases}


def test_glob_path_in_a_mapping_of_paths_is_meant():
    found = resolve_from_keypaths(PARAMS, {"b": GlobPath.parse("*.bias"), "s": "scale"})
    assert found == {"b": {"enc.bias": 2}, "s": 5}


def test_annotation_with_unknown_names_still_tells_of_globs():
    class Unknown:
        x: dict[Decimal, KeyGlob]
        y: Key | Decimal

    obj = Unknown()
    obj.x, obj.y = "*.bias", "scale"
    found = resolve_from_keyed_obj(PARAMS, obj)
    assert found == {"x": {"enc.bias": 2}, "y": 5}


def test_shape_structs_can_be_matched_and_indexed():
    spec = {"a": {"x": SimpleNamespace(shape=(2, 3), dtype="f4")}}
    kontext.validate(Decay("*.x[..., 0]"), spec)
    with pytest.raises(PathLookupError, match="nothing matches"):
        kontext.validate(Decay("*.x[0, 0, 0]"), spec)

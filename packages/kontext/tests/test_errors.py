"""Every message as a user reads it, side by side in errors.json.

`KONTEXT_WRITE_ERRORS=1 pytest packages/kontext/tests/test_errors.py` writes it anew;
the change is reviewed as text.
"""

import collections
import dataclasses
import json
import os
import pathlib
import pickle
import types

import pytest

import kontext
from kontext import REQUIRED, GlobPath, Key, KeyGlob, Path
from kontext.integrations import flax, jax

SNAPSHOT = pathlib.Path(__file__).with_name("errors.json")

Pair = collections.namedtuple("Pair", "x y")


class Array:
    """As much of an array as paths look at."""

    shape, dtype = (2, 3), "float32"

    def __getitem__(self, axes):
        return 0.0

    def __setitem__(self, axes, value):
        raise AssertionError("nothing is written before all is checked")


@dataclasses.dataclass(frozen=True)
class Frozen:
    size: int = 3
    rate: float = 0.1

    @property
    def double(self):
        return 2 * self.size

    def apply(self, x):
        return x


class Loss:
    preds: Key = REQUIRED
    labels: Key = REQUIRED
    mask: Key | None = None
    weights: KeyGlob | None = None

    def __init__(self, **keys):
        vars(self).update(keys)

    def __call__(self, preds, labels, weights):
        return preds, labels, weights


class Ctx(kontext.AnnotatedPathBuilder):
    image: Frozen


def context():
    return {
        "batch": {"image": Array(), "label": 1},
        "preds": {"logits": [0.1, 0.9], "aux": (1, {"lr": 2})},
        "model": Frozen(),
        "pair": Pair(1, 2),
        "a.b": 1,
        "many": {f"key{i:02}": i for i in range(30)},
    }


def keyed(func=None, **keys):
    loss = Loss(**keys)
    return kontext.resolve_from_keyed_obj(context(), loss, func=func and loss)


def telling(keys):
    """An object whose class has `keys` for its `__kontext_keys__`."""
    return type("Wrapper", (), {"__kontext_keys__": keys})()


def circular():
    tree = {}
    tree["self"] = tree
    return tree


def deep(depth):
    tree = {}
    for _ in range(depth):
        tree = {"a": tree}
    return tree


def copying():
    class Fresh:
        @property
        def items(self):
            return {"x": 1}

    return Fresh()


def registered():
    class Other:
        pass

    kontext.register_node(Other, children=lambda node: [("x", 1)])
    return Other()


def parse(text):
    return lambda: kontext.parse(text)


def get(path):
    return lambda: kontext.get(context(), path)


def set_(path, value=0):
    return lambda: kontext.set(context(), path, value)


def update(path, value=0):
    return lambda: kontext.update(context(), path, value)


def delete(path):
    return lambda: kontext.delete(context(), path)


SYNTAX = {
    f"syntax {text}": parse(text)
    for text in (
        ".a a. a..b a-b a/b a[ a] a[] a[x] [x] a[007] a[1.5:2] a[1:2:3:4] a[b'x'] a['x"
        " a[(1)] a[(1 a[1,'x'] a[1x] a[1e999] a[0_] a['\\q'] a[u'x'] a.'x' a.1x a.+ a*"
        " a.* a.b* {a} a.{b} a[0]b a[?] a['\\x1'] a[1]2"
    ).split()
}
GLOB_SYNTAX = {
    f"glob syntax {text}": lambda text=text: kontext.parse(text, glob=True)
    for text in ("a.***", "a.*b", "a*", "a[*b]")
}
LOOKUP = {
    f"lookup {path}": get(path)
    for path in (
        "batch.imag batch.image.shap batch.image[5] batch.image[...,0,0,0]"
        " preds.logits[2] preds.logits.x pair.z model.siz model.apply a.b many.key"
        " batch.label.x zzz preds.aux[1].l batch['x/y'] logits"
    ).split()
}
CASES = {
    **SYNTAX,
    **GLOB_SYNTAX,
    **LOOKUP,
    "lookup in nothing": lambda: kontext.get({}, "a"),
    "lookup in an empty list": lambda: kontext.get([], "[0]"),
    "path of a wrong type": lambda: kontext.get({}, ["a"]),
    "text of a wrong type": lambda: Path.parse(3),
    "glob where one place is meant": lambda: kontext.get({}, GlobPath.parse("*.a")),
    "part of a wrong type": lambda: Path(b"x"),
    "part that is not finite": lambda: Path(float("nan")),
    "part that is a wildcard": lambda: Path(kontext.STAR),
    "slice of texts": lambda: Path(slice("a", "b")),
    "slice without a step": lambda: Path(slice(1, 2, 0)),
    "syntax, long text": parse("a.b" * 100 + " - " + "c" * 1000),
    "syntax, long head": parse("a" * 1000 + "[b]"),
    "syntax, deep": parse(f"[{'(' * 2000}0{',)' * 2000}]"),
    "syntax, step of 0": parse("a[::0]"),
    "lookup, long path": get(".".join(["many", *["key01"] * 500])),
    "lookup, long key": lambda: kontext.get(
        {chr(97 + i) * 5000: 1 for i in range(20)}, "z"
    ),
    "lookup, long key meant": lambda: kontext.get({"k" * 5000: 1}, "k" * 5001),
    "path changed": lambda: setattr(Path("a"), "parts", ()),
    "name of the root": lambda: Path().name,
    "not below": lambda: Path("a").relative_to("b"),
    "not a jax entry": lambda: Path.from_jax_path((3,)),
    "set the root": set_(""),
    "set a subtree": set_("preds.**"),
    "set in a tuple": set_("preds.aux[0]"),
    "set in a frozen dataclass": set_("model.size"),
    "set a computed attribute": set_("preds.logits.x"),
    "set below what is missing": set_("new.x"),
    "set behind the end": set_("preds.logits[2]"),
    "set by a pattern that names nothing": set_("**.kernl"),
    "set a slice to fewer items": set_("preds.logits[:]", [1]),
    "set in a copy": lambda: kontext.set({"f": copying()}, "f.items.x", 0),
    "set in a registered node": lambda: kontext.set({"o": registered()}, "o.x", 0),
    "update a registered node": lambda: kontext.update({"o": registered()}, "o.x", 0),
    "update a property": update("model.double"),
    "update a leaf": update("batch.label.x"),
    "update by a pattern that names nothing": update("**.logit"),
    "delete a field": delete("model.size"),
    "delete the root": delete(""),
    "filter inside of an array": lambda: kontext.filter(context(), "batch.image[0]"),
    "filter by a pattern that names nothing": lambda: kontext.filter(context(), "*.zz"),
    "register a built-in class": lambda: kontext.register_node(dict, children=list),
    "names that collide": lambda: kontext.flatten(
        {"a": {"b": 1}, "a/b": 2}, separator="/"
    ),
    "key that is no part": lambda: kontext.flatten({"a": {b"x": 1}}),
    "data that holds itself": lambda: kontext.flatten(circular()),
    "separator that joins nothing": lambda: kontext.flatten({}, separator=""),
    "separator of a wrong type": lambda: kontext.unflatten({}, separator=1),
    "unflatten a list": lambda: kontext.unflatten([1]),
    "unflatten parts with a separator": lambda: kontext.unflatten(
        {("a", 0): 1}, separator="/"
    ),
    "update by a function that fails": lambda: kontext.update(
        {"a": [{}]}, "a[0]", lambda old: old.x
    ),
    "update of what is too deep": lambda: kontext.update(
        deep(3000), ".".join("a" * 3000), 1
    ),
    "indices with gaps": lambda: kontext.unflatten({"a[0]": 1, "a[2]": 2}),
    "leaf and branch": lambda: kontext.unflatten({"a": 1, "a.b": 2}),
    "other paths than like": lambda: kontext.unflatten({"a": 1}, like={"b": 1}),
    "required keys": lambda: keyed(mask="batch.label"),
    "required key without owner": lambda: kontext.resolve_from_keypaths(
        {}, {"x": REQUIRED}
    ),
    "keys that name nothing": lambda: keyed(preds="preds.logit", labels="batch.labels"),
    "keys that do not fit": lambda: keyed(
        func=True, preds="preds.logits", labels="batch.label", mask="batch.label"
    ),
    "wildcards in a key": lambda: keyed(preds="*.logits", labels="batch.label"),
    "glob key that names nothing": lambda: keyed(
        preds="preds", labels="batch", weights="**.kernl"
    ),
    "key outside of a shape struct": lambda: kontext.validate(
        Loss(preds="x[3]", labels="x[0,:9]"),
        {"x": types.SimpleNamespace(shape=(2, 3), dtype="float32")},
    ),
    "keys of a class": lambda: kontext.get_keypaths(Loss),
    "keys told by no method": lambda: kontext.get_keypaths(telling(3)),
    "keys told as a list": lambda: kontext.get_keypaths(telling(lambda self: ["x"])),
    "keys told by number": lambda: kontext.get_keypaths(telling(lambda self: {1: "x"})),
    "paths that are no mapping": lambda: kontext.resolve_from_keypaths({}, ["a"]),
    "keys for no function": lambda: kontext.resolve_from_keyed_obj(
        {}, Loss(preds="a", labels="b"), func=3
    ),
    "labels that are no mapping": lambda: jax.labels({"a": 1}, ["a"]),
    "key of a wrong type": lambda: keyed(preds=3, labels="batch.label"),
    "builder without such a field": lambda: Ctx().imag,
    "builder below": lambda: Ctx().image.sise,
    "builder of a list": lambda: kontext.path_builder_from("a", list[Frozen]).size,
    "builder with a value": lambda: type(
        "Ctx",
        (kontext.AnnotatedPathBuilder,),
        {"__annotations__": {"x": int}, "x": 3, "__module__": __name__},
    ),
    "builder changed": lambda: setattr(Ctx(), "image", 1),
    "builder base": kontext.AnnotatedPathBuilder,
    "property for another class": lambda: flax.interms_property().fget(3),
}


def told(case):
    with pytest.raises((kontext.PathError, AttributeError)) as caught:
        case()
    error = caught.value
    notes = [f"NOTE {note}" for note in getattr(error, "__notes__", ())]
    return "\n".join([f"{type(error).__name__}: {error}", *notes])


def test_every_message_is_the_one_that_was_reviewed():
    found = {name: told(case).splitlines() for name, case in CASES.items()}
    if os.environ.get("KONTEXT_WRITE_ERRORS") == "1":
        text = json.dumps(found, indent=2, ensure_ascii=False)
        SNAPSHOT.write_text(text + "\n", encoding="utf-8")
    assert found == json.loads(SNAPSHOT.read_text(encoding="utf-8"))


def test_every_message_fits_on_a_screen():
    for name, case in CASES.items():
        text = told(case)
        assert len(text.splitlines()) <= 12, name
        assert len(text) <= 900, name


def test_errors_can_be_pickled():
    for case in CASES.values():
        with pytest.raises((kontext.PathError, AttributeError)) as caught:
            case()
        again = pickle.loads(pickle.dumps(caught.value))
        assert (type(again), str(again)) == (type(caught.value), str(caught.value))


def test_tree_of_jax_without_jax_is_refused(monkeypatch):
    monkeypatch.setattr(jax, "sys", types.SimpleNamespace(modules={}))
    with pytest.raises(kontext.PathTypeError, match="import jax first"):
        jax.mask({"a": 1}, "a")

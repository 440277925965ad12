"""Paths written as Python, checked against the types that are known."""

import copy
import dataclasses
import pickle
from collections.abc import Mapping
from typing import Annotated, Any, Final, NamedTuple, Optional, TypedDict

import pytest

import kontext
from kontext import (
    AnnotatedPathBuilder,
    DynamicPathBuilder,
    Key,
    PathTypeError,
    path_builder_from,
)


class Pair(NamedTuple):
    left: int
    right: "Inner"


class Extra(TypedDict):
    mask: int


@dataclasses.dataclass
class Inner:
    pos: int


@dataclasses.dataclass
class Batch:
    image: Any
    inner: Inner
    maybe: Inner | None
    older: Optional[Inner]  # noqa: UP045
    noted: Annotated[Inner, "note"]
    items: list[Inner]
    fixed: tuple[int, Inner]
    many: tuple[Inner, ...]
    table: dict[str, Inner]
    frozen: Mapping[str, Inner]
    pair: Pair
    extra: Extra
    either: Inner | Pair
    final: Final[Inner] = None

    @property
    def size(self):
        return 1


@pytest.fixture
def batch() -> Batch:
    return path_builder_from("batch", Batch)


def test_attributes_and_items_become_a_path(batch):
    assert str(batch) == "batch"
    assert str(batch.inner.pos) == "batch.inner.pos"
    assert str(batch.items[0].pos) == "batch.items[0].pos"
    assert str(batch.table["a b"].pos) == "batch.table['a b'].pos"
    assert str(batch.size) == "batch.size"


@pytest.mark.spec("kontext-58")
def test_slices_and_axes_have_their_canonical_text():
    b = path_builder_from("batch", Any)
    assert str(b.t[..., 0]) == "batch.t[...,0]"
    assert str(b.q[1:2]) == "batch.q[1:2]"
    assert (
        kontext.parse(str(b.t[None, ..., ::2]))
        == b.t[None, ..., ::2].__kontext_path__()
    )


@pytest.mark.spec("kontext-57")
def test_name_that_the_class_lacks_is_refused(batch):
    with pytest.raises(AttributeError) as caught:
        _ = batch.imag
    assert "did you mean: batch.image ?" in str(caught.value)
    assert "no 'imag' at 'batch' (Batch)" in str(caught.value)


@pytest.mark.parametrize(
    "step",
    [
        lambda b: b.inner,
        lambda b: b.maybe,
        lambda b: b.older,
        lambda b: b.noted,
        lambda b: b.items[3],
        lambda b: b.fixed[1],
        lambda b: b.fixed[-1],
        lambda b: b.many[7],
        lambda b: b.table["x"],
        lambda b: b.table.x,
        lambda b: b.frozen.x,
        lambda b: b.pair.right,
        lambda b: b.extra,
        lambda b: b["inner"],
        lambda b: b.items[1:][0],
        lambda b: b.final,
    ],
)
def test_types_are_followed_through_containers(batch, step):
    with pytest.raises(AttributeError, match="no 'nothing'"):
        _ = step(batch).nothing


@pytest.mark.parametrize(
    "step",
    [lambda b: b.image, lambda b: b.either, lambda b: b.fixed[0], lambda b: b.size],
)
def test_below_a_type_that_tells_nothing_every_name_is_fine(batch, step):
    assert str(step(batch).nothing).endswith(".nothing")


def test_message_names_the_class_behind_an_annotation(batch):
    for step in (batch.maybe, batch.noted, batch.older):
        with pytest.raises(AttributeError, match=r"\(Inner\)\n  fields: 'pos'"):
            _ = step.nothing


def test_items_of_a_list_have_no_names(batch):
    for step in (batch.items, batch.many, batch.items[1:]):
        with pytest.raises(AttributeError) as caught:
            _ = step.pos
        assert str(caught.value) == (
            f"no 'pos' at '{step}' ({'tuple' if step == batch.many else 'list'})\n"
            f"  its items are read by index: {step}[0]"
        )


def test_class_whose_annotations_cannot_be_evaluated_still_has_its_names():
    class Lazy:
        image: "Lost"
        label: int

    b = path_builder_from("", Lazy)
    assert str(b.image.anything) == "image.anything"
    with pytest.raises(AttributeError, match="did you mean: label"):
        _ = b.labels


@pytest.mark.spec("kontext-56")
def test_builder_is_the_value_of_a_key(batch):
    @dataclasses.dataclass
    class Loss:
        preds: Key
        extra: Key = None

    context = {"batch": {"inner": {"pos": 3}, "image": 4}}
    loss = Loss(batch.inner.pos, {"x": batch.image})
    assert kontext.resolve_from_keyed_obj(context, loss) == {
        "preds": 3,
        "extra": {"x": 4},
    }
    assert kontext.get(context, batch.image) == 4


def test_builder_becomes_text_in_a_config(batch):
    assert batch.image.__as_konfig__() == "batch.image"


def test_builders_are_equal_if_their_paths_are(batch):
    other = path_builder_from("batch", Any).image
    assert batch.image == other
    assert hash(batch.image) == hash(other)
    assert batch.image != batch.inner
    assert batch != "batch"


def test_builder_survives_pickle_and_copy(batch):
    again = pickle.loads(pickle.dumps(batch.items[0]))
    assert again == batch.items[0]
    with pytest.raises(AttributeError, match="no 'nothing'"):
        _ = again.nothing
    assert copy.deepcopy(batch.image) == batch.image == copy.copy(batch.image)


def test_builder_is_not_iterable_and_cannot_be_changed(batch):
    with pytest.raises(TypeError):
        iter(batch)
    with pytest.raises(TypeError):
        _ = 1 in batch
    with pytest.raises(AttributeError, match="cannot be changed"):
        batch.image = 1
    with pytest.raises(AttributeError, match="dunder"):
        _ = batch.image.__call__
    with pytest.raises(PathTypeError):
        _ = batch.image[b"x"]


def test_dynamic_builder_takes_every_name():
    b = DynamicPathBuilder("interms")
    assert str(b.enc["__call__"][0]) == "interms.enc.__call__[0]"
    assert str(DynamicPathBuilder().keys.items) == "keys.items"
    assert repr(b) == "DynamicPathBuilder('interms')"


def test_annotated_builder_has_the_fields_of_its_class():
    class Ctx(AnnotatedPathBuilder):
        batch: Batch
        step: int

    assert str(Ctx().batch.inner.pos) == "Ctx.batch.inner.pos"
    assert dir(Ctx()) == ["batch", "step"]
    with pytest.raises(AttributeError, match=r"did you mean: Ctx\.batch"):
        _ = Ctx().bach
    with pytest.raises(PathTypeError, match="subclass"):
        AnnotatedPathBuilder()


def test_field_of_an_annotated_builder_has_no_value_of_its_own():
    with pytest.raises(PathTypeError, match="'step' of Ctx has a value"):

        class Ctx(AnnotatedPathBuilder):
            batch: Batch
            step: int = 3


def test_builder_is_appended_to_a_path(batch):
    assert str(kontext.Path("ctx") / batch.inner) == "ctx.batch.inner"

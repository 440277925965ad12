import dataclasses
import pickle

import pytest

from ktrain import _bind, _errors


@dataclasses.dataclass(frozen=True, kw_only=True)
class Part(_bind.RootBound):
    seed: int = _bind.root("seed")
    size: int = 1


@dataclasses.dataclass(frozen=True, kw_only=True)
class Holder(_bind.RootBound):
    part: Part = dataclasses.field(default_factory=Part)
    items: tuple = ()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Root:
    seed: int = 0
    part: Part = dataclasses.field(default_factory=Part)
    holders: dict = dataclasses.field(default_factory=dict)

    def __post_init__(self):
        _bind.bind_fields(self)


def test_a_reference_takes_the_value_of_the_root():
    assert Root(seed=3).part.seed == 3


def test_an_explicit_value_wins_even_when_it_equals_the_default():
    root = Root(seed=3, part=Part(seed=0))
    assert root.part.seed == 0
    assert dataclasses.replace(root, seed=5).part.seed == 0


def test_replacing_the_root_binds_the_following_fields_again():
    root = Root(seed=3)
    assert dataclasses.replace(root, seed=5).part.seed == 5
    assert root.part.seed == 3


def test_replacing_a_bound_part_keeps_it_following():
    root = Root(seed=3)
    part = root.part.replace(size=2)
    assert part.size == 2
    assert Root(seed=9, part=part).part.seed == 9


def test_replacing_the_followed_field_makes_it_explicit():
    part = Root(seed=3).part.replace(seed=7)
    assert Root(seed=9, part=part).part.seed == 7


def test_parts_in_mappings_tuples_and_other_parts_are_bound():
    root = Root(seed=4, holders={"a": Holder(items=(Part(),))})
    assert root.holders["a"].part.seed == 4
    assert root.holders["a"].items[0].seed == 4


def test_what_has_no_reference_is_the_same_object():
    part = Part(seed=1)
    holders = {"a": Holder(part=part)}
    root = Root(part=part, holders=holders)
    assert root.part is part
    assert root.holders is holders


def test_a_bound_part_can_be_pickled():
    root = pickle.loads(pickle.dumps(Root(seed=3)))
    assert root.part.seed == 3
    assert dataclasses.replace(root, seed=5).part.seed == 5


@pytest.mark.spec("core-12")
@pytest.mark.parametrize(
    "use", [int, bool, len, iter, range, lambda v: v.x, lambda v: v()]
)
def test_using_an_unbound_reference_names_class_field_and_path(use):
    with pytest.raises(_errors.UnboundRootRefError) as caught:
        use(Part().seed)
    assert "Part.seed" in str(caught.value)
    assert "trainer.seed" in str(caught.value)
    assert "Set seed= explicitly" in str(caught.value)


def test_a_reference_with_a_default_has_it_without_a_root():
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Pipe(_bind.RootBound):
        seed: int = _bind.root("seed", default=0)

    assert _bind.value_of(Pipe().seed) == 0
    assert _bind.value_of(Pipe(seed=4).seed) == 4
    assert repr(Pipe()) == (
        "test_a_reference_with_a_default_has_it_without_a_root.<locals>."
        "Pipe(seed=root('seed'))"
    )

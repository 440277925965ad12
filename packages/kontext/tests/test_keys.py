"""Which fields are keys, whatever way their annotation is written."""

from __future__ import annotations

import dataclasses
import sys
import types
import typing
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Generic, Optional, TypeVar

import pytest

import kontext
from kontext import (
    REQUIRED,
    Key,
    KeyTree,
    OptionalKey,
    Path,
    forward_keys,
    get_keypaths,
    is_key_annotated,
    required_keys,
)

if TYPE_CHECKING:
    from decimal import Decimal


T = TypeVar("T")


@dataclasses.dataclass
class Base:
    x: Key = "a"
    y: Key | None = None
    n: int = 3


@dataclasses.dataclass
class Derived(Base):
    z: Key = REQUIRED
    q: KeyTree[int] = ("a", {"b": "c"})


@pytest.mark.spec("kontext-53")
def test_keys_come_in_order_of_declaration_base_first():
    assert list(get_keypaths(Derived()).items()) == [
        ("x", "a"),
        ("y", None),
        ("z", REQUIRED),
        ("q", ("a", {"b": "c"})),
    ]


class Spelled:
    plain: Key
    union: Key | None
    optional: Optional[Key]  # noqa: UP045
    named: OptionalKey
    mapping: dict[str, Key]
    listed: list[Key]
    many: tuple[Key, ...]
    documented: Annotated[Key, "doc"]
    constant: ClassVar[Key]
    final: Final[Key]
    module: kontext.Key
    tree: KeyTree[T]
    quoted: "Key | None"
    inner: list["Key"]
    no_int: int
    no_text: Annotated[int, "Key"]
    no_callable: Callable[[Key], int]
    no_literal: typing.Literal["Key"]
    no_class: type[Base]


def test_key_is_seen_in_every_spelling():
    assert [name for name in get_keypaths(Spelled()) if name.startswith("no_")] == []
    assert list(get_keypaths(Spelled())) == [
        name for name in Spelled.__annotations__ if not name.startswith("no_")
    ]


def test_evaluated_annotations_are_seen_as_well():
    annotations = {
        "plain": Key,
        "union": Key | None,
        "named": OptionalKey,
        "mapping": dict[str, Key],
        "tree": KeyTree[int],
        "forward": list["Key"],
        "constant": ClassVar[Key],
        "documented": Annotated[Key, "doc"],
    }
    refused = {
        "number": int,
        "function": Callable[[Key], int],
        "older": typing.Callable[[Key], int],
        "text": typing.Literal["Key"],
    }
    body = {"__annotations__": annotations | refused, "__module__": __name__}
    assert list(get_keypaths(type("Made", (), body)())) == list(annotations)


@pytest.mark.spec("kontext-54")
def test_key_is_seen_through_a_type_alias():
    if sys.version_info >= (3, 12):
        scope = {"Key": Key}
        exec("type K = Key | None\ntype L[T] = dict[T, K]", scope)
        alias, generic = scope["K"], scope["L"][str]
    else:
        extensions = pytest.importorskip(
            "typing_extensions", reason="Python 3.11 has type aliases only there"
        )
        alias = extensions.TypeAliasType("K", Key | None)
        generic = extensions.TypeAliasType("L", dict[T, alias], type_params=(T,))[str]
    body = {"__annotations__": {"a": alias, "b": generic, "c": list[alias]}}
    assert list(get_keypaths(type("Aliased", (), body)())) == ["a", "b", "c"]


@dataclasses.dataclass
class Unresolved:
    amount: Decimal = None
    x: Key = REQUIRED
    both: dict[Decimal, Key] | None = None
    neither: list[Decimal] | None = None
    function: Callable[[Key], Decimal] = None


@pytest.mark.spec("kontext-55")
def test_unresolved_name_hides_no_key():
    assert list(get_keypaths(Unresolved())) == ["x", "both"]


def test_class_of_a_function_hides_no_key():
    class Local:
        pass

    @dataclasses.dataclass
    class User:
        local: Local | None = None
        x: Key = "a"

    assert get_keypaths(User()) == {"x": "a"}


def test_key_that_only_type_checkers_import_is_known_by_its_name():
    body = {"__annotations__": {"x": "nowhere.Key", "y": "AliasedKey", "z": "lost"}}
    assert list(get_keypaths(type("Named", (), body)())) == ["x"]


def test_subclass_may_turn_a_key_into_something_else():
    class Fixed(Base):
        x: int = 3

    assert list(get_keypaths(Fixed())) == ["y"]


def test_generic_components_have_keys():
    class Wrapper(Generic[T]):
        x: Key = "a"

    assert get_keypaths(Wrapper()) == {"x": "a"}


def test_key_that_was_never_set_is_required():
    assert get_keypaths(Spelled())["plain"] == REQUIRED


def test_component_without_keys_has_none():
    assert get_keypaths(3) == {}
    assert not is_key_annotated(int)
    assert is_key_annotated(Base)
    assert is_key_annotated(Derived())


def test_frozen_mapping_is_a_tree_of_keys_like_a_dict():
    frozen = types.MappingProxyType({"i": "a", "n": types.MappingProxyType({"j": "b"})})
    derived = Derived(z="a", q=frozen)
    context = {"a": 1, "b": 2}
    values = kontext.resolve_from_keyed_obj(context, derived)
    assert values == {"x": 1, "z": 1, "q": {"i": 1, "n": {"j": 2}}}
    unset = types.MappingProxyType({"i": [REQUIRED]})
    assert required_keys(Derived(z="a", q=unset)) == ("q",)
    moved = forward_keys(derived, prefix="p")["q"]
    assert moved == {"i": Path("p", "a"), "n": {"j": Path("p", "b")}}


def test_required_keys_are_found_in_trees():
    assert required_keys(Base()) == ()
    assert required_keys(Derived()) == ("z",)
    assert required_keys(Derived(z="a", q={"k": [REQUIRED]})) == ("q",)


def test_instance_attribute_is_no_protocol():
    obj = Base()
    obj.__kontext_keys__ = lambda: {"other": "a"}
    assert list(get_keypaths(obj)) == ["x", "y"]
    plain = type("Plain", (), {})()
    plain.__kontext_keys__ = lambda: {"other": "a"}
    assert not is_key_annotated(plain)


@dataclasses.dataclass
class Wrapper:
    inner: object
    prefix: str = ""
    x: Key = "replaced by the protocol"

    def __kontext_keys__(self):
        return forward_keys(self.inner, prefix=self.prefix)


@pytest.mark.spec("kontext-60")
def test_wrapper_forwards_the_keys_of_what_it_wraps():
    twice = Wrapper(Wrapper(Derived(z="b.c")))
    assert is_key_annotated(Wrapper)
    assert get_keypaths(twice) == get_keypaths(Derived(z="b.c"))
    context = {"a": 1, "b": {"c": 2}, "c": 3}
    assert kontext.resolve_from_keyed_obj(context, twice) == {
        "x": 1,
        "z": 2,
        "q": (1, {"b": 3}),
    }


def test_forwarded_keys_move_below_a_prefix():
    moved = get_keypaths(Wrapper(Derived(), prefix="student.out"))
    assert moved == {
        "x": Path("student", "out", "a"),
        "y": None,
        "z": REQUIRED,
        "q": (Path("student", "out", "a"), {"b": Path("student", "out", "c")}),
    }

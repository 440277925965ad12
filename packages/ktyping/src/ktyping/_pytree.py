"""`PyTree[T, "$S"]`: every leaf matches `T`, and trees of one name are alike."""

import re
from typing import Any

from ktyping._checker import Checker, Trial, union_of
from ktyping._errors import ShapeSpecSyntaxError
from ktyping._failure import Failure
from ktyping._hypothesis import Hypotheses
from ktyping._structure import TreeFact, disagreement, leaves, structure_of

_NAME = re.compile(r"\$[A-Za-z][A-Za-z0-9_]*")
_FORMS = "Write `$S`, `$S ...` (a tree that begins so) or `... $S` (that ends so)."


class PyTreeType:
    """A structure of dicts, lists and tuples with leaves of one kind.

    None is a structure without leaves. When jax is loaded, the structures that are
    registered with it count as well.

    `PyTree[T, "$S"]` gives the structure a name: all trees of that name in a call are
    alike. `"$S ..."` is a tree that begins as `$S` and goes on with anything in place
    of its leaves; `"... $S"` is one that ends with `$S` wherever it has leaves.
    `Annotated[PyTree[T], "$S"]` is the same for static checkers.
    """

    __slots__ = ("leaf", "relation", "structure")

    def __init__(
        self, leaf: Any = Any, structure: str | None = None, relation: str = "is"
    ):
        self.leaf = leaf
        self.structure = structure
        self.relation = relation

    def __getitem__(self, item: Any) -> "PyTreeType":
        parts = item if isinstance(item, tuple) else (item,)
        names = [part for part in parts[1:] if isinstance(part, str)]
        if self.leaf is not Any or not 1 <= len(parts) == 1 + len(names) <= 2:
            raise TypeError(
                f"PyTree[...] takes the type of the leaves, and a name for the "
                f"structure; got {item!r}.\n"
                'Write `PyTree[Float["..."]]` or `PyTree[Float["..."], "$S"]`.'
            )
        made = PyTreeType(parts[0])
        return made.named(names[0]) if names else made

    def named(self, text: str) -> "PyTreeType":
        """Returns the same type with a name for the structure.

        Raises:
          ShapeSpecSyntaxError: When the text is not of the forms above.
        """
        words = text.split()
        names = [word for word in words if _NAME.fullmatch(word)]
        if len(names) == 1 and words in (names, [*names, "..."], ["...", *names]):
            relation = "is" if len(words) == 1 else "ends"
            relation = "begins" if words[-1:] == ["..."] else relation
            return PyTreeType(self.leaf, names[0], relation)
        raise ShapeSpecSyntaxError(
            f"The structure {text!r} of a PyTree cannot be read.\n{_FORMS}",
            code="tree",
            hint=_FORMS,
        )

    def __or__(self, other: Any) -> Any:
        return union_of(self, other)

    def __ror__(self, other: Any) -> Any:
        return union_of(other, self)

    def _key(self) -> Any:
        return self.leaf, self.structure, self.relation

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PyTreeType) and other._key() == self._key()

    def __hash__(self) -> int:
        return hash((PyTreeType, self._key()))

    def __reduce__(self) -> Any:
        return PyTreeType, self._key()

    def __repr__(self) -> str:
        return _shown(repr(self.leaf), self)


def _shown(leaf: str, tree: PyTreeType) -> str:
    if tree.structure is None:
        return "PyTree" if tree.leaf is Any else f"PyTree[{leaf}]"
    forms = {"is": "{}", "begins": "{} ...", "ends": "... {}"}
    return f"PyTree[{leaf}, {forms[tree.relation].format(tree.structure)!r}]"


PyTree = PyTreeType()


class PyTreeCheck(Checker):
    """The leaves of a tree, each with its path, and its structure if it has a name."""

    __slots__ = ("has_arrays", "leaf", "tree")

    def __init__(self, leaf: Checker, tree: PyTreeType):
        self.leaf = leaf
        self.tree = tree
        # A named structure is remembered as dims are.
        self.has_arrays = leaf.has_arrays or tree.structure is not None

    def match(self, value: Any, where: str, hypotheses: Hypotheses, trial: Trial):
        """Accepts a structure whose leaves fit, and that agrees with its name."""
        for path, leaf in leaves(value):
            hypotheses = self.leaf.match(leaf, where + path, hypotheses, trial)
            if not hypotheses:
                return ()
        if self.tree.structure is None:
            return hypotheses
        fact = TreeFact(
            self.tree.structure, self.tree.relation, structure_of(value), where
        )
        related = [h.relate(fact) for h in hypotheses]
        found = tuple(h for h in related if h is not None)
        if not found and trial.failures is not None:
            trial.failures.append(self._explain(fact, hypotheses))
        return found

    def _explain(self, fact: TreeFact, hypotheses: Hypotheses) -> Failure:
        for known in hypotheses[0].trees:
            found = disagreement(known, fact) if known.name == fact.name else None
            if found is not None:
                path, left, right = found
                message = f"the structure differs from that of {known.source}"
                message += f" ({fact.name}): {right} where {left} is wanted"
                where = fact.source + path
                return Failure("structure", where, message, left, right, depth=5)
        raise AssertionError("a fact that was refused contradicts a known one")

    def __repr__(self) -> str:
        return _shown(repr(self.leaf), self.tree)

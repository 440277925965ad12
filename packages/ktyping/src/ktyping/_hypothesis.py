"""One reading of the axes seen so far: what is bound, and what still waits."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from ktyping import _arithmetic as arithmetic
from ktyping import _dims as d
from ktyping._arithmetic import Sizes
from ktyping._structure import TreeFact, agrees


class Lower(NamedTuple):
    """What `#` axes say about a size: it is at least this, by broadcasting.

    `single` is set by `#a` (one axis) and not by `*#b` (a run of axes).
    """

    sizes: Sizes
    single: bool


class Pending(NamedTuple):
    """An expression whose value is known before all of its names are."""

    expression: d.Expression
    size: Any
    source: str


class Hypothesis:
    """Name -> sizes, with the open constraints. Never changed: binding copies.

    Attributes:
      bound: Name -> sizes, one size per axis.
      lower: Name -> what `#` axes say, for names that are not bound.
      pending: Constraints that wait for a size.
      sources: Name -> which argument and axis gave the size.
      trees: What is known about named structures of trees.
    """

    __slots__ = ("_key", "bound", "lower", "pending", "sources", "trees")

    def __init__(
        self,
        bound: Mapping[str, Sizes],
        lower: Mapping[str, Lower],
        pending: tuple[Pending, ...],
        sources: Mapping[str, str],
        trees: tuple[TreeFact, ...] = (),
    ):
        self.bound = bound
        self.lower = lower
        self.pending = pending
        self.sources = sources
        self.trees = trees
        self._key = None

    @property
    def key(self) -> Any:
        """Equal for two hypotheses that say the same, whoever bound it."""
        if self._key is None:
            self._key = (
                frozenset(self.bound.items()),
                frozenset(self.lower.items()),
                frozenset((p.expression.node, p.size) for p in self.pending),
                frozenset(fact[:3] for fact in self.trees),
            )
        return self._key

    @property
    def mentioned(self) -> set[str]:
        """The names that something is known about."""
        waiting = (name for p in self.pending for name in p.expression.names)
        return {*self.bound, *self.lower, *waiting}

    @property
    def is_open(self) -> bool:
        """Whether a new size could contradict more than the sizes that are bound."""
        return bool(self.pending or self.lower)

    def bind(self, name: str, sizes: Sizes, source: str) -> "Hypothesis | None":
        """Returns the hypothesis with `name` bound, or None if that is impossible."""
        known = self.bound.get(name)
        if known is not None:
            return self if arithmetic.same_sizes(known, sizes) else None
        lower = self.lower.get(name)
        if lower and not _fits(lower, sizes):
            return None
        rest = {k: v for k, v in self.lower.items() if k != name}
        bound = Hypothesis(
            {**self.bound, name: sizes},
            rest if lower else self.lower,
            self.pending,
            {**self.sources, name: source},
            self.trees,
        )
        return bound.settle() if self.pending else bound

    def bind_lower(self, name: str, lower: Lower, source: str) -> "Hypothesis | None":
        """Returns the hypothesis in which `name` is at least `lower`."""
        known = self.bound.get(name)
        if known is not None:
            return self if _fits(lower, known) else None
        old = self.lower.get(name)
        joined = _join(old, lower) if old else lower
        if joined is None:
            return None
        sources = self.sources
        if joined.sizes and (not old or joined.sizes != old.sizes):
            sources = {**sources, name: source}
        lower_sizes = {**self.lower, name: joined}
        return Hypothesis(self.bound, lower_sizes, self.pending, sources, self.trees)

    def require(
        self, expression: d.Expression, size: Any, source: str
    ) -> "Hypothesis | None":
        """Returns the hypothesis in which the expression has the value `size`."""
        added = Pending(expression, size, source)
        pending = (*self.pending, added)
        return Hypothesis(
            self.bound, self.lower, pending, self.sources, self.trees
        ).settle()

    def relate(self, fact: TreeFact) -> "Hypothesis | None":
        """Returns the hypothesis with a fact about the structure of a tree."""
        if not all(agrees(known, fact) for known in self.trees):
            return None
        if any(known[:3] == fact[:3] for known in self.trees):
            return self
        return Hypothesis(
            self.bound, self.lower, self.pending, self.sources, (*self.trees, fact)
        )

    def settle(self) -> "Hypothesis | None":
        """Decides every constraint that can be decided by now."""
        waiting: list[Pending] = []
        for pending in self.pending:
            try:
                value = arithmetic.evaluate(pending.expression.node, self.bound)
            except arithmetic.Unknown:
                waiting.append(pending)
                continue
            except arithmetic.Undefined:
                return None
            if not arithmetic.same_size(value, pending.size):
                return None
        settled = Hypothesis(
            self.bound, self.lower, tuple(waiting), self.sources, self.trees
        )
        return settled.solve() if waiting else settled

    def solve(self) -> "Hypothesis | None":
        """Binds a name that only one size can satisfy; None if no size can."""
        choices: dict[str, set[int]] = {}
        sources: dict[str, str] = {}
        for expression, size, source in self.pending:
            unknown = expression.names - self.bound.keys()
            if len(unknown) != 1 or arithmetic.is_symbolic(size):
                continue
            (name,) = unknown
            sizes = arithmetic.solutions(expression.node, name, size, self.bound)
            if sizes is not None:
                choices[name] = choices.get(name, set(sizes)) & set(sizes)
                sources.setdefault(name, f"{source} ({expression.text})")
        if not all(choices.values()):
            return None
        for name, sizes in choices.items():
            if len(sizes) == 1:
                return self.bind(name, tuple(sizes), sources[name])
        return self

    def close(self) -> "Hypothesis | None":
        """Takes what `#` axes have said so far as the final sizes."""
        closed: Hypothesis | None = self
        for name, lower in self.lower.items():
            if closed is not None and not (lower.single and not lower.sizes):
                source = self.sources.get(name, "")
                closed = closed.bind(name, lower.sizes, source)
        return closed


EMPTY = Hypothesis({}, {}, (), {})
Hypotheses = tuple[Hypothesis, ...]


def distinct(hypotheses: "list[Hypothesis]") -> Hypotheses:
    """Returns the hypotheses without those that say the same as an earlier one."""
    if len(hypotheses) < 2:
        return tuple(hypotheses)
    return tuple({h.key: h for h in reversed(hypotheses)}.values())[::-1]


def close_all(hypotheses: Hypotheses) -> Hypotheses:
    """Closes every hypothesis and drops those that become impossible."""
    if not any(h.lower for h in hypotheses):
        return hypotheses
    closed = [h.close() for h in hypotheses]
    return distinct([h for h in closed if h is not None])


def _fits(lower: Lower, sizes: Sizes) -> bool:
    if lower.single and len(sizes) != 1:
        return False
    if len(lower.sizes) > len(sizes):
        return False
    ends = sizes[len(sizes) - len(lower.sizes) :]
    return all(
        arithmetic.is_one(small) or arithmetic.same_size(small, big)
        for small, big in zip(lower.sizes, ends, strict=True)
    )


def _join(left: Lower, right: Lower) -> Lower | None:
    rank = max(len(left.sizes), len(right.sizes))
    single = left.single or right.single
    if single and rank > 1:
        return None
    joined = []
    for a, b in zip(_padded(left.sizes, rank), _padded(right.sizes, rank), strict=True):
        if arithmetic.is_one(a) or arithmetic.is_one(b) or arithmetic.same_size(a, b):
            joined.append(b if arithmetic.is_one(a) else a)
        else:
            return None
    return Lower(tuple(joined), single)


def _padded(sizes: Sizes, rank: int) -> Sizes:
    return (1,) * (rank - len(sizes)) + sizes

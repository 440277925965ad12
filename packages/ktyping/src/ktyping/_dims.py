"""What a shape spec says: terms, one per axis or run of axes, and expressions."""

from typing import NamedTuple


class Number(NamedTuple):
    """A whole number in an expression."""

    value: int


class Name(NamedTuple):
    """The size of the axis called `name` in an expression."""

    name: str


class Splat(NamedTuple):
    """All sizes of the run of axes called `name`, inside a function call."""

    name: str


class Interp(NamedTuple):
    """`{path}` or `{path[index]}`: a value from the arguments of the call."""

    path: tuple[str, ...]
    index: int | None


class Unary(NamedTuple):
    """`-operand`."""

    operand: "Node"


class Binary(NamedTuple):
    """`left op right`."""

    op: str
    left: "Node"
    right: "Node"


class Call(NamedTuple):
    """`min(...)`, `max(...)`, `sum(...)` or `prod(...)`."""

    function: str
    args: tuple["Node", ...]


Node = Number | Name | Splat | Interp | Unary | Binary | Call


class Fixed(NamedTuple):
    """One axis of a given size."""

    size: int


class Named(NamedTuple):
    """One axis whose size is remembered under `name`."""

    name: str


class Anonymous(NamedTuple):
    """One axis of any size, not remembered (`_`)."""


class Bounded(NamedTuple):
    """One named axis of fixed or limited size (`n=3`, `n<=3`, `n>=3`)."""

    name: str
    op: str
    size: int


class Broadcast(NamedTuple):
    """One axis of size 1 or of the size called `name` (`#a`)."""

    name: str


class FixedBroadcast(NamedTuple):
    """One axis of size 1 or `size` (`#3`)."""

    size: int


class Variadic(NamedTuple):
    """A run of at least `least` axes, remembered unless `name` is None."""

    name: str | None
    least: int
    broadcast: bool


class Expression(NamedTuple):
    """One axis whose size is computed from others (`n+1`)."""

    node: Node
    text: str
    names: frozenset[str]


class Splice(NamedTuple):
    """`{path}`: axes given by an argument, an int or a sequence of ints.

    At least `least` axes, 1 in `+{path}`.
    """

    interp: Interp
    broadcast: bool
    least: int = 0


class Optional(NamedTuple):
    """An axis that may be absent (`a?`)."""

    term: "Term"


class Choice(NamedTuple):
    """One of several terms (`3|a`)."""

    terms: tuple["Term", ...]


Term = (
    Fixed
    | Named
    | Anonymous
    | Bounded
    | Broadcast
    | FixedBroadcast
    | Variadic
    | Expression
    | Splice
    | Optional
    | Choice
)


class Spec(NamedTuple):
    """A parsed shape spec.

    Attributes:
      text: The spec with single spaces between its terms.
      terms: The terms from left to right.
      words: The text of each term.
      least: The smallest number of axes it can describe.
      most: The largest number of axes, or None when there is no limit.
      interpolated: Whether it holds a `{...}`, whose value comes with the call.
      tails: Least and most axes of the terms from each position on.
      simple: Whether every term is one axis: a size, a name or any.
      num_runs: How many terms are runs of axes.
      all_new: Whether every term is a name that stands once, a run with such a name,
        or an axis of any size: what fits whatever the sizes are.
    """

    text: str
    terms: tuple[Term, ...]
    words: tuple[str, ...]
    least: int
    most: int | None
    interpolated: bool
    tails: tuple[tuple[int, int | None], ...]
    simple: bool
    num_runs: int
    all_new: bool

    @property
    def num_branching(self) -> int:
        """How many terms can be read in several ways."""
        return sum(isinstance(t, Variadic | Optional | Choice) for t in self.terms)


def least_axes(term: Term) -> int:
    """Returns the smallest number of axes that a term describes."""
    match term:
        case Variadic():
            return term.least
        case Optional() | Splice():
            return 0
        case Choice():
            return min(map(least_axes, term.terms))
        case _:
            return 1


def most_axes(term: Term) -> int | None:
    """Returns the largest number of axes that a term describes, None if any."""
    match term:
        case Variadic() | Splice():
            return None
        case Optional():
            return most_axes(term.term)
        case Choice():
            most = [most_axes(t) for t in term.terms]
            return None if None in most else max(m for m in most if m is not None)
        case _:
            return 1


def make_spec(terms: tuple[Term, ...], words: tuple[str, ...]) -> Spec:
    """Builds a spec; neighbouring runs of anonymous axes become one run."""
    kept: list[tuple[Term, str]] = []
    for term, word in zip(terms, words, strict=True):
        last = kept[-1][0] if kept else term
        if kept and _is_anonymous_run(term) and _is_anonymous_run(last):
            merged = Variadic(None, least_axes(last) + least_axes(term), False)
            kept[-1] = (merged, f"{kept[-1][1]} {word}")
        else:
            kept.append((term, word))
    terms = tuple(term for term, _ in kept)
    tails = _tails(terms)
    return Spec(
        text=" ".join(words),
        terms=terms,
        words=tuple(word for _, word in kept),
        least=tails[0][0],
        most=tails[0][1],
        interpolated=any(map(_is_interpolated, terms)),
        tails=tails,
        simple=all(isinstance(t, Named | Fixed | Anonymous) for t in terms),
        num_runs=sum(isinstance(t, Variadic) for t in terms),
        all_new=_all_new(terms),
    )


def _all_new(terms: tuple[Term, ...]) -> bool:
    names = [t.name for t in terms if isinstance(t, Named | Variadic)]
    anything = all(
        isinstance(t, Named | Anonymous)
        or (isinstance(t, Variadic) and t.name is not None and not t.broadcast)
        for t in terms
    )
    return anything and len(set(names)) == len(names)


def _tails(terms: tuple[Term, ...]) -> tuple[tuple[int, int | None], ...]:
    tails: list[tuple[int, int | None]] = [(0, 0)]
    for term in reversed(terms):
        least, most = tails[-1]
        own = most_axes(term)
        open_ended = own is None or most is None
        tails.append((least + least_axes(term), None if open_ended else most + own))
    return tuple(reversed(tails))


def nodes(node: Node) -> list[Node]:
    """Returns a node of an expression and all nodes below it."""
    match node:
        case Unary():
            below = [node.operand]
        case Binary():
            below = [node.left, node.right]
        case Call():
            below = list(node.args)
        case _:
            below = []
    return [node, *(deeper for child in below for deeper in nodes(child))]


def names_in(node: Node) -> frozenset[str]:
    """Returns the names that an expression reads."""
    return frozenset(n.name for n in nodes(node) if isinstance(n, Name | Splat))


def _is_anonymous_run(term: Term) -> bool:
    return isinstance(term, Variadic) and term.name is None


def _is_interpolated(term: Term) -> bool:
    match term:
        case Splice():
            return True
        case Expression():
            return any(isinstance(n, Interp) for n in nodes(term.node))
        case Optional():
            return _is_interpolated(term.term)
        case Choice():
            return any(map(_is_interpolated, term.terms))
        case _:
            return False


def spec_names(spec: Spec) -> frozenset[str]:
    """Returns every name that a spec can bind or read."""
    return frozenset().union(*(_term_names(t) for t in spec.terms))


def _term_names(term: Term) -> frozenset[str]:
    match term:
        case Named() | Bounded() | Broadcast():
            return frozenset((term.name,))
        case Variadic():
            return frozenset(() if term.name is None else (term.name,))
        case Expression():
            return term.names
        case Optional():
            return _term_names(term.term)
        case Choice():
            return frozenset().union(*map(_term_names, term.terms))
        case _:
            return frozenset()

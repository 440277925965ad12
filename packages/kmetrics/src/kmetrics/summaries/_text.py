"""Texts: from token ids on the device, or as they are on the host."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar, Self

import jax
import jax.numpy as jnp
import numpy as np

import kontext
from kmetrics._class_inputs import example_weights
from kmetrics._fields import static_field
from kmetrics._numerics import is_traced
from kmetrics._options import Count
from kmetrics._register import state
from kmetrics._selection import Selected
from kmetrics._state import State
from kmetrics.summaries._kept import ChosenBy, KeptState, Numbers, Show
from kmetrics.summaries._media import Text
from ktyping import typechecked


@state
class HostTexts(State):
    """The first texts, on the host.

    Attributes:
      texts: the texts.
    """

    texts: tuple[str, ...] = static_field(default=())

    @property
    def merges_on_device(self) -> bool:
        """No: jax has no texts."""
        return False

    @classmethod
    def empty(cls) -> Self:
        """The state of no texts."""
        return cls()

    def merge(self, other: Self) -> Self:
        """The first texts of both."""
        parent = self.merged_parent(other)
        num = (self.parent or other.parent).num_texts
        if len(self.texts) >= num or not other.texts:
            return self.replace(_parent=parent)
        return self.replace(texts=(self.texts + other.texts)[:num], _parent=parent)

    def compute(self) -> Text:
        """The texts."""
        return Text(self.texts)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ShowTexts(Show):
    """Some of the texts, as a `Text`.

    With `decode`, the texts are token ids: they are chosen on the device, under jit,
    and become letters when the value is computed. Without it they are texts, which
    only exist outside of jit, and the first are shown.

    Attributes:
      texts: path of token ids, integers `[*b, t]`; without `decode` of texts, a list,
        or a numpy array `[*b]`.
      num_texts: how many to show.
      decode: gives the text of ids `[t]`, a numpy array.
      mask: see `ShowImages`, as for `ids`, `selection` and `seed`.

    Raises:
      TypeError, ValueError: an option is not allowed; at the first use: the texts have
        another dtype or shape.
    """

    limit: ClassVar[str] = "num_texts"

    texts: kontext.Key = kontext.REQUIRED
    num_texts: Count = 5
    decode: Callable[[np.ndarray], str] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.decode is not None and not callable(self.decode):
            raise TypeError(
                "ShowTexts: decode must be a function from ids [t] to a text\n"
                f"  got {type(self.decode).__name__}"
            )
        if self.decode is None and self.selection != "first":
            raise ValueError(
                f"ShowTexts: selection={self.selection!r} needs token ids and decode\n"
                'texts on the host are shown in their order, selection="first"'
            )

    def empty(self) -> Any:
        """The state of no texts."""
        kind = HostTexts if self.decode is None else KeptState
        return kind.empty().with_parent(self)

    @typechecked
    def get_state(
        self,
        texts: Any,
        mask: Numbers | None = None,
        ids: Numbers | None = None,
        scores: Numbers | None = None,
    ) -> Any:
        """The state of one batch; `scores` `[*b]` for `selection=Worst(...)`."""
        if self.decode is None:
            return HostTexts(texts=self._host_texts(texts, mask))
        tokens = texts if hasattr(texts, "dtype") else np.asarray(texts)
        if tokens.ndim < 1 or not jnp.issubdtype(tokens.dtype, jnp.integer):
            raise TypeError(
                "ShowTexts: texts must be token ids, integers [*b, t]\n"
                f"  got {tokens.dtype}{list(tokens.shape)}\n"
                "texts that are texts already are shown without decode"
            )
        tokens, batch = jnp.asarray(tokens), tokens.shape[:-1]
        return self.keep(tokens, batch=batch, chosen_by=ChosenBy(mask, ids, scores))

    def _host_texts(self, texts: Any, mask: Any) -> tuple[str, ...]:
        if isinstance(texts, jax.Array):
            raise TypeError(
                f"ShowTexts: texts are numbers, {texts.dtype}{list(texts.shape)}\n"
                "give decode= a function from token ids [t] to a text"
            )
        array = texts if isinstance(texts, np.ndarray) else np.array(texts, object)
        flat = [_as_text(text) for text in array.ravel().tolist()]
        if mask is not None:
            if is_traced(mask):
                raise TypeError(
                    "ShowTexts: the mask is traced, but texts exist outside of jit only"
                )
            keep = np.asarray(example_weights(mask, array.shape)).ravel() != 0
            flat = [text for text, kept in zip(flat, keep, strict=True) if kept]
        return tuple(flat[: self.num_texts])

    def render(self, selected: Selected) -> Text:
        """The texts."""
        assert self.decode is not None
        return Text(tuple(self._decoded(self.decode(ids)) for ids in selected.items))

    def render_nothing(self) -> Text:
        """No text."""
        return Text(())

    def _decoded(self, text: Any) -> str:
        if not isinstance(text, str):
            raise TypeError(
                "ShowTexts: decode must give a text for the ids [t] of one example\n"
                f"  got {type(text).__name__}"
            )
        return text


def _as_text(text: Any) -> str:
    if isinstance(text, bytes):
        return text.decode("utf-8", errors="replace")
    if not isinstance(text, str):
        raise TypeError(
            f"ShowTexts: expected texts, got {type(text).__name__}\n"
            "give decode= a function from token ids [t] to a text"
        )
    return str(text)

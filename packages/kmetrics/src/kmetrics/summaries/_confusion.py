"""The table of labels and predictions, to be read and to be looked at."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from kmetrics._class_table import value_of
from kmetrics._options import Text
from kmetrics._register import state
from kmetrics.confusion import ConfusionMatrix, ConfusionState
from kmetrics.summaries._canvas import Canvas, write
from kmetrics.summaries._colors import MAPS, Colors, frozen_colors, mapped, to_uint8
from kmetrics.summaries._font import HEIGHT, text_mask
from kmetrics.summaries._media import Image, Table

_PAD = 3
# With more classes the picture has no letters.
_MAX_NAMED = 24
_MAX_LETTERS = 8
# Pixels of a side, unless there are more classes.
_LARGEST = 1024


@state
class ShownConfusionState(ConfusionState):
    """How often each class was predicted as each."""

    def compute(self) -> dict[str, Any]:
        """The table, and the picture of it; neither without data."""
        counts = np.asarray(self.counts)
        if counts.sum() == 0:
            return {}
        return self.parent.shown(value_of(self.parent, counts))


@dataclasses.dataclass(frozen=True, kw_only=True)
class ShowConfusionMatrix(ConfusionMatrix):
    """The table of true classes (rows) and predicted ones, as "table" and "image".

    Inputs: as for `kmetrics.ConfusionMatrix`, and `normalize` as well. Without data
    there is neither. The picture has room for 8 letters of a name, and with more than
    24 classes for colours alone.

    Attributes:
      class_names: the names of the classes; by default their numbers.
      cmap: the colours of the picture, see `ShowImages`.

    Raises:
      TypeError, ValueError: an option is not known; at the first use: there are more
        or fewer names than classes.
    """

    State = ShownConfusionState

    class_names: tuple[Text, ...] | None = None
    cmap: Colors = "viridis"

    def __post_init__(self) -> None:
        cmap = frozen_colors(self.cmap, f"{type(self).__name__}: cmap", MAPS)
        object.__setattr__(self, "cmap", cmap)
        super().__post_init__()

    def metric_names(self) -> tuple[str, ...]:
        """`table` and `image`."""
        return "table", "image"

    def get_state(
        self,
        labels: Any,
        logits: Any = None,
        pred_labels: Any = None,
        mask: Any = None,
    ) -> Any:
        """The state of one batch; inputs and errors as for `ConfusionMatrix`."""
        counts = super().get_state(labels, logits, pred_labels, mask).counts
        self._check_names(counts.hi.shape[0])
        return ShownConfusionState(counts=counts)

    def _check_names(self, num_classes: int) -> None:
        names = self.class_names
        if names is not None and len(names) != num_classes:
            raise ValueError(
                f"{type(self).__name__}: class_names must name each class\n"
                f"  {len(names)} names, {num_classes} classes"
            )

    def shown(self, table: np.ndarray) -> dict[str, Any]:
        """The table `[n, n]` as `Table` and as `Image`."""
        # Here too: the states of a view are made by its source.
        self._check_names(len(table))
        names = self.class_names or tuple(map(str, range(len(table))))
        # Examples that weigh by a mask leave no whole numbers.
        is_count = self.normalize is None and bool(np.all(table == np.round(table)))
        cells = [[int(x) if is_count else float(x) for x in row] for row in table]
        rows = tuple((name, *row) for name, row in zip(names, cells, strict=True))
        texts = [[str(x) if is_count else f"{x:.2f}" for x in row] for row in cells]
        return {
            "table": Table(("true \\ predicted", *names), rows),
            "image": Image(self._drawn(table, texts, names)[None]),
        }

    def _drawn(
        self, table: np.ndarray, texts: list[list[str]], names: tuple[str, ...]
    ) -> np.ndarray:
        share = table / (np.nan_to_num(table).max() or 1.0)
        colors = to_uint8(mapped(np.nan_to_num(share), self.cmap))
        if len(table) > _MAX_NAMED:
            zoom = max(1, min(8, _LARGEST // len(table)))
            return colors.repeat(zoom, axis=0).repeat(zoom, axis=1)
        labels = [text_mask(name[:_MAX_LETTERS]) for name in names]
        inside = [[text_mask(text) for text in row] for row in texts]
        every = [*labels, *(mask for row in inside for mask in row)]
        width = max(mask.shape[1] for mask in every) + 2 * _PAD
        height = HEIGHT + 2 * _PAD
        picture = Canvas(np.full(3, 255, np.uint8)).plain(
            height * (len(table) + 1), width * (len(table) + 1)
        )
        for i, label in enumerate(labels):
            write(picture, label, height * (i + 1) + _PAD, _PAD)
            write(picture, label, _PAD, width * (i + 1) + _PAD)
        for i, row in enumerate(inside):
            for j, mask in enumerate(row):
                top, left = height * (i + 1), width * (j + 1)
                picture[top : top + height, left : left + width] = colors[i, j]
                write(picture, mask, top + _PAD, left + _PAD)
        return picture

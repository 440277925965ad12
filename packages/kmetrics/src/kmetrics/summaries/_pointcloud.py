"""Points in space."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np

import kontext
from kmetrics._numerics import to_float32
from kmetrics._options import Count
from kmetrics._selection import Selected
from kmetrics.summaries._kept import ChosenBy, KeptState, Numbers, Show
from kmetrics.summaries._media import PointCloud
from kmetrics.summaries._pixels import to_pixels
from ktyping import typechecked


@dataclasses.dataclass(frozen=True, kw_only=True)
class ShowPointCloud(Show):
    """Some of the points of all examples, as one `PointCloud`.

    Attributes:
      points: path of points `[*b, n, 3]`, or `[n, 3]`.
      colors: path of colours, same shape, floats in 0 to 1, or uint8 in 0 to 255.
      num_points: how many to show, of all batches together.
      config: handed on to the viewer, such as {"material": {"size": 0.05}} for that of
        TensorBoard.
      mask: path of bools or numbers `[*b, n]`, or of fewer axes; where it is 0, a
        point is not shown.
      ids: see `ShowImages`, as for `selection` and `seed`; an example is a point.

    Raises:
      TypeError, ValueError: an option is not allowed; at the first use: the inputs
        have another dtype or shape.
    """

    limit: ClassVar[str] = "num_points"

    points: kontext.Key = kontext.REQUIRED
    colors: kontext.Key | None = None
    num_points: Count = 2000
    config: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.config, Mapping):
            raise TypeError(
                "ShowPointCloud: config must be a mapping\n"
                f"  got {type(self.config).__name__}"
            )

    @typechecked
    def get_state(
        self,
        points: Numbers,
        colors: Numbers | None = None,
        mask: Numbers | None = None,
        ids: Numbers | None = None,
        scores: Numbers | None = None,
    ) -> KeptState:
        """The state of one batch; `scores` `[*b, n]` for `selection=Worst(...)`."""
        name = type(self).__name__
        points = jnp.asarray(points)
        if points.ndim < 2 or points.shape[-1] != 3:
            raise ValueError(
                f"{name}: points must be [*b, n, 3]\n  got {list(points.shape)}"
            )
        items = {"points": to_float32(points).astype(jnp.float32)}
        if colors is not None:
            items["colors"] = self._colors(jnp.asarray(colors), points)
        batch = points.shape[:-1]
        return self.keep(items, batch=batch, chosen_by=ChosenBy(mask, ids, scores))

    def _colors(self, colors: Any, points: Any) -> Any:
        name = type(self).__name__
        if colors.shape != points.shape:
            raise ValueError(
                f"{name}: each point has one colour\n"
                f"  points {list(points.shape)}, colors {list(colors.shape)}"
            )
        if colors.dtype != jnp.uint8 and not jnp.issubdtype(colors.dtype, jnp.floating):
            raise TypeError(
                f"{name}: colors must be floats in 0 to 1, or uint8 in 0 to 255\n"
                f"  got {colors.dtype}"
            )
        return colors

    def render(self, selected: Selected) -> PointCloud:
        """The points and their colours."""
        colors = selected.items.get("colors")
        if colors is not None:
            colors = to_pixels(colors, None, None).pixels
        return PointCloud(selected.items["points"], colors, self.config)

    def render_nothing(self) -> PointCloud:
        """No point."""
        return PointCloud(np.zeros((0, 3), np.float32), None, self.config)

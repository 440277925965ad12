"""The errors of kmetrics: one class per kind of mistake."""

from __future__ import annotations


class MetricError(Exception):
    """Base of every error that kmetrics raises by itself."""


class MergeError(MetricError, ValueError):
    """Two metric states that do not belong together were merged."""


class MaskShapeError(MetricError, ValueError):
    """A mask or weight does not line up with the values from the left."""


class MaskNotAcceptedError(MetricError, TypeError):
    """A padded batch reached a metric whose `get_state` takes no `mask`."""


class NameCollisionError(MetricError, ValueError):
    """Two metrics, or a metric and the total, would be logged under one name."""


class StateDefinitionError(MetricError, TypeError):
    """A state class is not registered, or one of its fields is declared wrongly."""


class HostOnlyError(MetricError, RuntimeError):
    """An operation that collects data on the host was called while jit was tracing."""


class EmptyMetricError(MetricError, ValueError):
    """A metric with `on_empty="raise"` saw no data."""


class ScheduleError(MetricError, ValueError):
    """A loss has a weight schedule but was given no step."""


class NonFiniteLossError(MetricError, FloatingPointError):
    """A loss that is in the total is NaN or infinite."""


class LawError(MetricError, AssertionError):
    """A metric broke one of the laws that `kmetrics.testing.check_laws` checks."""

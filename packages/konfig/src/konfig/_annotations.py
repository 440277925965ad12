"""Names for annotations, where a value is an object or the config of one."""

from __future__ import annotations

from typing import Any, TypeVar, Union

from konfig._node import ConfigDict

T = TypeVar("T")

ConfigDictLike = Union[T, ConfigDict]  # noqa: UP007  (subscripted: ConfigDictLike[Model])
"""An object, or the config that describes it: `model: ConfigDictLike[Model]`."""


class WithRef:
    """Lets a type checker accept `cfg.ref` where `cfg` is annotated as a class.

    A function that fills in a config may be annotated with the class that the config
    describes; a class derived from `WithRef` has `ref` there, as its config does.
    """

    __slots__ = ()

    @property
    def ref(self) -> Any:
        """References of the config.

        Raises:
          RuntimeError: Always, on a real instance: it has none.
        """
        raise RuntimeError(
            f"a built {type(self).__qualname__} has no references: only its config has"
        )

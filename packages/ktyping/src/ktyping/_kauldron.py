"""The names of Kauldron's configuration, for code that is moved from it."""

import enum
from contextlib import AbstractContextManager
from typing import Any

from ktyping._config import config
from ktyping._scope import Scope

ShapeScope = Scope


class ReportingPolicy(enum.Enum):
    """What to do with annotations of jaxtyping: the value of `config.jaxtyping`."""

    IGNORE = "ignore"
    WARN = "warn"
    ERROR = "error"


class Config:
    """Settings under the names of Kauldron; in a `with` block they are in force.

    Args:
      typechecking_enabled: False for mode `off`, True for `on`.
    """

    __slots__ = ("_contexts", "typechecking_enabled")

    def __init__(self, typechecking_enabled: bool = True):
        self.typechecking_enabled = typechecking_enabled
        self._contexts: list[AbstractContextManager[None]] = []

    @property
    def mode(self) -> str:
        """The mode that the settings stand for."""
        return "on" if self.typechecking_enabled else "off"

    def __enter__(self) -> "Config":
        context = config.override(self.mode)
        context.__enter__()
        self._contexts.append(context)
        return self

    def __exit__(self, *exc_info: Any) -> None:
        self._contexts.pop().__exit__(*exc_info)


class ProcessConfig:
    """The settings of the process under the names of Kauldron."""

    __slots__ = ()

    @property
    def typechecking_enabled(self) -> bool:
        """Whether checks run."""
        return config.mode != "off"

    @typechecking_enabled.setter
    def typechecking_enabled(self, value: bool) -> None:
        config.set("on" if value else "off")

    @property
    def jaxtyping_annotations(self) -> ReportingPolicy | str:
        """What is done with annotations of jaxtyping; `convert` has no other name."""
        policies = {policy.value: policy for policy in ReportingPolicy}
        return policies.get(config.jaxtyping, config.jaxtyping)

    @jaxtyping_annotations.setter
    def jaxtyping_annotations(self, value: ReportingPolicy) -> None:
        config.set(jaxtyping=ReportingPolicy(value).value)


CONFIG = ProcessConfig()


def add_config_override(module: str, settings: Config) -> None:
    r"""Gives a module, and those below it, settings of their own.

    Args:
      module: Name of the module. A pattern that matches nothing but names, such as
        `my\.pkg` or `my.pkg.*`, is read as that name; others are refused.
      settings: The settings.
    """
    config.module_rule(_name(module), settings.mode)


def remove_config_override(module: str) -> None:
    """Takes the settings of a module back."""
    config.module_rule(_name(module), None)


def _name(pattern: str) -> str:
    name = pattern.replace("\\.", ".").removeprefix("^").removesuffix("$")
    return name.removesuffix(".*")

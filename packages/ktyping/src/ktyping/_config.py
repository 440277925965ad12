"""On, warn, dims or off: for the process, a module, a block of code, by environment."""

import os
import re
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from ktyping._errors import KTypingError

MODES = ("on", "warn", "dims", "trace", "off")
VARIABLE = "KTYPING"
CHOICES = {
    "jaxtyping": ("convert", "warn", "error", "ignore"),
    "containers": ("sample", "first", "all"),
    "extra_keys": ("refuse", "allow"),
}

OVERRIDE: ContextVar[str | None] = ContextVar("ktyping_mode", default=None)
_PREFIX = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


class ModuleSettings:
    """The mode of the code of one module, kept up to date by the config."""

    __slots__ = ("mode",)

    def __init__(self, mode: str):
        self.mode = mode


class Config:
    """Whether checks run, and what they do with annotations they cannot read.

    `on` raises KTypeCheckError, `warn` warns KTypeCheckWarning instead, `dims` says
    nothing but binds dims for those who read them, `off` runs functions unchecked,
    `trace` is `on` for calls that jax traces and `off` for the rest. The environment
    variable KTYPING sets the first mode.

    Of several modes the first of these counts: `typechecked(mode=...)`, `override`,
    the rule of a module, the mode of the process.

    Attributes:
      off_at_import: Whether KTYPING was `off`: then `typechecked` returns
        functions as they are.
      strict: Whether an annotation that cannot be read is an error; if not, it is
        warned about once and accepts every value.
      jaxtyping: What to do with annotations of jaxtyping: `convert`, `warn` (convert
        and warn), `error`, or `ignore` (they accept every value).
      containers: Which items of a collection are checked: `sample` (with arrays in
        them the first 1000, otherwise the first and the last), `first`, or `all`.
      container_limit: How many items of a collection with arrays in them `sample`
        checks, at least 1.
      extra_keys: Whether a dict may have keys that its TypedDict does not name:
        `refuse` or `allow`.
      check_names: Whether the dims of an array of xarray must be called as the spec
        calls its axes.
      strict_symbolic: Whether symbolic sizes are equal only where that can be shown;
        if not, where it cannot be disproved.
    """

    __slots__ = (
        "_forced",
        "_mode",
        "_modules",
        "_rules",
        "check_names",
        "container_limit",
        "containers",
        "extra_keys",
        "jaxtyping",
        "off_at_import",
        "strict",
        "strict_symbolic",
    )

    def __init__(self, mode: str = "on"):
        self._mode = _checked(mode, VARIABLE)
        self._modules: dict[str, ModuleSettings] = {}
        self._rules: dict[str, str] = {}
        self._forced: dict[str, str] = {}
        self.off_at_import = mode == "off"
        self.strict = False
        self.jaxtyping = "convert"
        self.containers = "sample"
        self.container_limit = 1000
        self.extra_keys = "refuse"
        self.check_names = False
        self.strict_symbolic = False

    @property
    def mode(self) -> str:
        """The mode of the process."""
        return self._mode

    @property
    def current(self) -> str:
        """The mode in force here, for modules without a rule."""
        return OVERRIDE.get() or self._mode

    def set(
        self,
        mode: str | None = None,
        *,
        strict: bool | None = None,
        jaxtyping: str | None = None,
        containers: str | None = None,
        container_limit: int | None = None,
        extra_keys: str | None = None,
        check_names: bool | None = None,
        strict_symbolic: bool | None = None,
    ) -> None:
        """Sets what is given, for the process.

        Args:
          mode: `on`, `warn`, `dims`, `trace` or `off`.
          strict: Whether an annotation that cannot be read is an error.
          jaxtyping: `convert`, `warn`, `error` or `ignore`; it counts for functions
            that are not called yet.
          containers: `sample`, `first` or `all`.
          container_limit: A whole number >= 1.
          extra_keys: `refuse` or `allow`.
          check_names: Whether names of dims of xarray are compared.
          strict_symbolic: Whether equal symbolic sizes must be shown to be.

        Raises:
          ValueError: When a value is none of these; nothing is set then.
        """
        given = {
            "strict": strict,
            "jaxtyping": jaxtyping,
            "containers": containers,
            "container_limit": container_limit,
            "extra_keys": extra_keys,
            "check_names": check_names,
            "strict_symbolic": strict_symbolic,
        }
        given = {name: value for name, value in given.items() if value is not None}
        for name, value in given.items():
            _check_setting(name, value)
        if mode is not None:
            self._mode = _checked(mode, "config.set")
            self._update()
        for name, value in given.items():
            setattr(self, name, value)

    @contextmanager
    def override(self, mode: str) -> Generator[None, None, None]:
        """Sets the mode for a block of code, in this thread and task alone."""
        token = OVERRIDE.set(_checked(mode, "config.override"))
        try:
            yield
        finally:
            OVERRIDE.reset(token)

    def module_rule(
        self, prefix: str, mode: str | None, *, force: bool = False
    ) -> None:
        """Sets the mode of the code of some modules, decorated before or after.

        Args:
          prefix: A module; the modules below it are meant as well. Of several rules
            the longest counts.
          mode: The mode, or None to take the rule back.
          force: Go before every other rule and, for what is decorated from now on,
            before `typechecked(mode=...)` and `KTYPING=off`.
        """
        if not _PREFIX.fullmatch(prefix):
            raise ModeError(
                f"config.module_rule got the module {prefix!r}.\n"
                "Write a dotted name such as 'package.sub'; it stands for all below it."
            )
        rules = self._forced if force else self._rules
        if mode is None:
            rules.pop(prefix, None)
        else:
            rules[prefix] = _checked(mode, "config.module_rule")
        self._update()

    def settings_of(self, module: str | None) -> ModuleSettings:
        """Returns the settings of a module; they change when the config does."""
        name = module or ""
        found = self._modules.get(name)
        if found is None:
            made = ModuleSettings(self.rule_of(name) or self._mode)
            found = self._modules.setdefault(name, made)
        return found

    def mode_in(self, module: str | None) -> str:
        """Returns the mode in force here for the code of a module."""
        return OVERRIDE.get() or self.settings_of(module).mode

    def rule_of(self, module: str | None) -> str | None:
        """Returns the mode that a rule gives a module."""
        return self.forced_in(module) or _longest(self._rules, module)

    def forced_in(self, module: str | None) -> str | None:
        """Returns the mode that a rule with `force` gives a module."""
        return _longest(self._forced, module)

    def _update(self) -> None:
        for name, settings in list(self._modules.items()):
            settings.mode = self.rule_of(name) or self._mode

    def __repr__(self) -> str:
        return f"<ktyping config: mode {self.current}>"


def _longest(rules: dict[str, str], module: str | None) -> str | None:
    name = module or ""
    while rules and name:
        if name in rules:
            return rules[name]
        name = name.rpartition(".")[0]
    return None


def _checked(mode: str, where: str) -> str:
    if mode not in MODES:
        raise ModeError(
            f"{where} got the mode {mode!r}.\nThe modes are {', '.join(MODES)}."
        )
    return mode


def _check_setting(name: str, value: object) -> None:
    if name in CHOICES:
        fits = value in CHOICES[name]
        expected = f"one of {', '.join(CHOICES[name])}"
    elif name == "container_limit":
        fits = isinstance(value, int) and not isinstance(value, bool) and value >= 1
        expected = "a whole number >= 1"
    else:
        fits, expected = isinstance(value, bool), "True or False"
    if not fits:
        raise ModeError(f"config.set got {name}={value!r}.\nIt is {expected}.")


class ModeError(KTypingError, ValueError):
    """A setting that does not exist."""


config = Config(os.environ.get(VARIABLE) or "on")

"""The errors of konfig, and the sentences that they share."""

from __future__ import annotations

from collections.abc import Iterable

from konfig._typing import Any


class KonfigError(Exception):
    """Base of every error that konfig raises by itself.

    Attributes:
      path: Where the fault is, or None: `"cfg.model.hidden"`, from the config that was
        handed over, or `".hidden"`, from a part that does not know what it stands in.
      owner: What a path without `cfg` begins at (`"the call of optax:adam"`), or None.
      hint: What to do about it, or None.
      origin: Where the faulty part was written (`"configs/vit.py:41 in get_config"`),
        or None.
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | None = None,
        hint: str | None = None,
        origin: str | None = None,
    ):
        super().__init__(message)
        self.message = message
        self.path = path
        self.owner: str | None = None
        self.hint = hint
        self.origin = origin

    def __str__(self) -> str:
        lines = [self.message]
        if self.path is not None:
            of = f" of {self.owner}" if self.owner else ""
            lines.append(f"  at:      {self.path}{of}")
        if self.origin:
            lines.append(f"  created: {self.origin}")
        if self.hint:
            lines.append(f"  hint:    {self.hint}")
        return "\n".join(lines)


class ConfigAttributeError(KonfigError, AttributeError):
    """A name that the node, its target or the module of a proxy does not have."""


class ConfigKeyError(KonfigError, KeyError):
    """A key that the node does not have, or may not get."""


class ConfigIndexError(KonfigError, IndexError):
    """A position beyond the positional arguments or the items that there are."""


class ConfigTypeError(KonfigError, TypeError, ValueError):
    """A value that cannot stand in a config, or a call that its target refuses.

    Attributes:
      steps: The keys from the outermost config to the value; they grow on the way out.
    """

    steps: tuple[Any, ...] = ()


class ConfigValueError(KonfigError, ValueError):
    """A malformed target name, constant, path or JSON tag."""


class ConfigImportError(KonfigError, ImportError):
    """A module or target that cannot be imported."""


class RequiredValueError(KonfigError, ValueError):
    """Required fields that were never set."""


class RefError(KonfigError, ValueError):
    """A reference that cannot be evaluated, or is used as if it were a value."""


class RefCycleError(RefError):
    """References that need each other."""


class ConfigCycleError(KonfigError, ValueError):
    """A config that contains itself, or is nested too deeply."""


class LockedError(KonfigError, AttributeError):
    """A change that the lock of the node forbids."""


class OverrideError(KonfigError, ValueError):
    """An override that does not fit the config."""


class ConfigFileError(KonfigError, ValueError):
    """A config file that is missing, or has no entry point."""


class SerializationError(KonfigError, TypeError):
    """A value that has no form in JSON."""


class UnsafeTargetError(KonfigError, PermissionError):
    """Data from outside names code that nobody allowed to run."""


def nearest(
    name: Any, candidates: Iterable[Any], count: int = 3, *, cutoff: float = 0.6
) -> list[str]:
    """The candidates most like `name`, best first."""
    import difflib  # only failing programs pay for it

    texts = list(dict.fromkeys(t for t in candidates if isinstance(t, str)))
    close = difflib.get_close_matches(str(name), texts, n=count, cutoff=cutoff)
    if close:
        return close
    folded = str(name).lower()
    return [text for text in texts if text.lower() == folded][:count]


def did_you_mean(name: Any, candidates: Iterable[Any], *, cutoff: float = 0.6) -> str:
    """`"did you mean 'hidden'?"`, or an empty text when nothing is near."""
    close = nearest(name, candidates, cutoff=cutoff)
    if not close:
        return ""
    return "did you mean " + " or ".join(repr(text) for text in close) + "?"


def listed(names: Iterable[Any], limit: int = 20) -> str:
    """The names in one line, cut after `limit`."""
    shown = [str(name) for name in names]
    text = ", ".join(shown[:limit]) or "(none)"
    return text + (f", … ({len(shown)} in all)" if len(shown) > limit else "")


def joined(*parts: str) -> str | None:
    """The non-empty parts as one hint, or None."""
    return "; ".join(part for part in parts if part) or None


def short(value: Any, limit: int = 60) -> str:
    """`repr(value)` in at most `limit` characters; never raises."""
    try:
        text = " ".join(repr(value).split())
    except Exception as error:
        text = f"<{type(value).__name__} whose repr raises {type(error).__name__}>"
        if type(value) is int:  # of more digits than Python writes
            text = hex(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"

"""What `konfig.validate` found: problems with their place, and a verdict."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from konfig._errors import ConfigValueError

LEVELS = ("error", "warning", "info")


class Problem:
    """One thing that is wrong with a config, or worth knowing.

    Attributes:
      path: Where: `"cfg.model.hidden"`.
      kind: Which sort: `"import"`, `"keyword"`, `"missing"`, `"type"`, `"required"`,
        `"ref"`, `"structure"`, `"cycle"`, `"untrusted"`, `"main"`, `"json"` or
        `"shared"`.
      level: `"error"`: the config cannot be resolved. `"warning"`: it may surprise.
        `"info"`: good to know.
      message: What, in one sentence.
      hint: What to do about it, or None.
      origin: Where the faulty part was written, or None.
    """

    __slots__ = ("hint", "kind", "level", "message", "origin", "path")

    def __init__(
        self,
        path: str,
        kind: str,
        level: str,
        message: str,
        hint: str | None = None,
        origin: str | None = None,
    ):
        self.path = path
        self.kind = kind
        self.level = level
        self.message = message
        self.hint = hint
        self.origin = origin

    def __str__(self) -> str:
        place = f" ({self.origin})" if self.origin else ""
        advice = f"; {self.hint}" if self.hint else ""
        return f"{self.path}: {self.level}: {self.message}{advice}{place}"

    def __repr__(self) -> str:
        return f"<{self.level} {self.kind} at {self.path}>"

    def to_dict(self) -> dict[str, str | None]:
        """The problem as data for `json.dumps`."""
        return {name: getattr(self, name) for name in sorted(self.__slots__)}


class Report:
    """The problems of a config, in the order of the config.

    A sequence of `Problem`; `ok` says whether none of them is an error.
    """

    __slots__ = ("problems",)

    def __init__(self, problems: list[Problem]):
        self.problems = tuple(problems)

    @property
    def ok(self) -> bool:
        """Whether no problem is an error."""
        return not any(problem.level == "error" for problem in self.problems)

    def raise_if_failed(self) -> None:
        """Raises when a problem is an error.

        Raises:
          ConfigValueError: With every error in one message.
        """
        errors = [problem for problem in self.problems if problem.level == "error"]
        if not errors:
            return
        lines = "\n  ".join(map(str, errors[:10]))
        more = f"\n  … {len(errors) - 10} more" if len(errors) > 10 else ""
        count = f"{len(errors)} fault{'s' if len(errors) > 1 else ''}"
        raise ConfigValueError(f"the config has {count}:\n  {lines}{more}")

    def to_json(self) -> str:
        """The problems as a JSON array."""
        import json

        return json.dumps([problem.to_dict() for problem in self.problems])

    def __iter__(self) -> Iterator[Problem]:
        return iter(self.problems)

    def __len__(self) -> int:
        return len(self.problems)

    def __getitem__(self, index: Any) -> Any:
        return self.problems[index]

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems)) or "no problems"

    def __repr__(self) -> str:
        counts = [
            f"{sum(p.level == level for p in self.problems)} {level}"
            for level in LEVELS
            if any(p.level == level for p in self.problems)
        ]
        return f"<Report: {', '.join(counts) or 'no problems'}>"

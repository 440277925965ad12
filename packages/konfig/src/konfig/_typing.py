"""Names that stand in annotations alone.

`typing` takes longer to import than all of konfig, and no program that runs asks it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn
else:
    Any = NoReturn = object

__all__ = ["TYPE_CHECKING", "Any", "NoReturn"]

"""The files and the display of a run: lock, status, events, progress."""

from ktrain.run._events import EventLog, read_events
from ktrain.run._json_file import (
    dumps,
    from_json_number,
    read_json,
    to_json,
    write_json,
)
from ktrain.run._json_lines import JsonLines, read_json_lines
from ktrain.run._lock import WorkdirLock
from ktrain.run._progress import Progress, ProgressMode, ProgressSession
from ktrain.run._report import print_line
from ktrain.run._status import StatusFile, read_status

__all__ = [
    "WorkdirLock",
    "Progress",
    "ProgressMode",
    "ProgressSession",
    "print_line",
    "StatusFile",
    "read_status",
    "EventLog",
    "read_events",
    "JsonLines",
    "read_json_lines",
    "to_json",
    "from_json_number",
    "dumps",
    "write_json",
    "read_json",
]

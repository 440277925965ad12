"""Where the numbers of a run go: JSON lines, TensorBoard, console, or your own."""

from ktrain.writers._background import StepOrderError, open_in_background
from ktrain.writers._console import ConsoleWriter
from ktrain.writers._fanout import MultiWriter, NoopWriter, default_writer
from ktrain.writers._jsonl import JsonlWriter, read_jsonl
from ktrain.writers._protocol import Writer, WriterSession, needs_workdir
from ktrain.writers._tensorboard import TensorBoardWriter
from ktrain.writers._values import FlatValues, UnwritableValueError, flatten

__all__ = [
    "default_writer",
    "JsonlWriter",
    "TensorBoardWriter",
    "ConsoleWriter",
    "MultiWriter",
    "NoopWriter",
    "read_jsonl",
    "open_in_background",
    "Writer",
    "WriterSession",
    "needs_workdir",
    "flatten",
    "FlatValues",
    "UnwritableValueError",
    "StepOrderError",
]

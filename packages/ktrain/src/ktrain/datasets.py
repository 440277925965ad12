"""Real data that needs no network: loaders over files of installed packages.

A loader is a small frozen dataclass, so that it can stand in a config and name its
split; calling it gives a dict of arrays.
"""

from __future__ import annotations

import dataclasses
import gzip
import importlib.util
import pathlib
from typing import Any, Literal

import numpy as np

from ktrain import _errors
from ktrain.data import _order

_TRAIN_SHARE = 0.8


@dataclasses.dataclass(frozen=True)
class Digits:
    """1797 handwritten digits as 8x8 grey images, from the files of scikit-learn.

    scikit-learn must be installed, but is not imported. The split is stratified: of
    each digit 80 % of the images are for training, rounded to the nearest, chosen by
    the seed.

    Attributes:
      split: "train" or "test".
      seed: Which images are for training; the same seed gives the same split for
        ever.

    Raises:
      TrainerConfigError: The split has another name.

    Reference:
      Alpaydin and Kaynak, "Optical recognition of handwritten digits", UCI Machine
      Learning Repository, 1998 (its test part).
    """

    split: Literal["train", "test"] = "train"
    seed: int = 0

    def __post_init__(self) -> None:
        """Checks the name of the split."""
        if self.split not in {"train", "test"}:
            raise _errors.TrainerConfigError(
                f"Digits got split={self.split!r}; expected 'train' or 'test'."
            )

    def __call__(self) -> dict[str, Any]:
        """Reads the images.

        Returns:
          `image`, float32 [n, 8, 8, 1] in [0, 1], and `label`, int32 [n] in 0..9, in
          the order of the file.

        Raises:
          DataError: scikit-learn is not installed.
        """
        with gzip.open(_sklearn_data("digits.csv.gz"), "rt") as file:
            table = np.loadtxt(file, delimiter=",", dtype=np.float32)
        label = table[:, -1].astype(np.int32)
        rows = _stratified(label, self.seed, train=self.split == "train")
        image = (table[rows, :-1] / 16).reshape(-1, 8, 8, 1)
        return {"image": image, "label": label[rows]}


def _stratified(label: np.ndarray, seed: int, *, train: bool) -> np.ndarray:
    chosen = np.zeros(len(label), np.bool_)
    for value in np.unique(label):
        members = np.flatnonzero(label == value)
        order = _order.shuffled(len(members), seed, epoch=int(value))
        chosen[members[order[: round(_TRAIN_SHARE * len(members))]]] = True
    return np.flatnonzero(chosen == train)


def _sklearn_data(name: str) -> pathlib.Path:
    # Looking up "sklearn.datasets" would import scikit-learn, which takes seconds.
    found = importlib.util.find_spec("sklearn")
    for folder in (found and found.submodule_search_locations) or ():
        path = pathlib.Path(folder, "datasets", "data", name)
        if path.is_file():
            return path
    raise _errors.DataError(
        f"ktrain.datasets reads {name} from scikit-learn, which is not"
        f" {'complete' if found else 'installed'} in this environment.\n"
        "  Install the package scikit-learn; it is not imported, only read."
    )

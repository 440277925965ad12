import importlib.util
import pickle

import numpy as np
import pytest

from ktrain.data import InMemoryPipeline
from ktrain.datasets import Digits
from ktrain.errors import DataError, TrainerConfigError

needs_sklearn = pytest.mark.skipif(
    importlib.util.find_spec("sklearn") is None,
    reason="the digits are a file of scikit-learn, which is not a dependency",
)


@needs_sklearn
def test_digits_are_grey_images_of_eight_by_eight_and_their_labels():
    train, test = Digits()(), Digits("test")()
    for split, count in ((train, 1438), (test, 359)):
        assert split["image"].shape == (count, 8, 8, 1)
        assert split["image"].dtype == np.float32
        assert split["label"].shape == (count,) and split["label"].dtype == np.int32
        assert (split["image"].min(), split["image"].max()) == (0, 1)
    images = np.concatenate([train["image"], test["image"]])
    assert len(images) == 1797
    # The published mean of the pixels, in sixteenths: 4.884165 (561718 in all).
    assert int((images.astype(np.float64) * 16).sum()) == 561718


@needs_sklearn
def test_a_digit_is_the_one_of_the_file():
    train = Digits()()
    assert train["label"][0] == 0
    rows = (train["image"][0, ..., 0] * 16).astype(int).tolist()
    assert rows[0] == [0, 0, 5, 13, 9, 1, 0, 0]
    assert rows[7] == [0, 0, 6, 13, 10, 0, 0, 0]


@needs_sklearn
def test_the_split_is_stratified_and_never_changes():
    train, test = Digits()()["label"], Digits("test")()["label"]
    assert np.bincount(train).tolist() == [
        142,
        146,
        142,
        146,
        145,
        146,
        145,
        143,
        139,
        144,
    ]
    assert np.bincount(test).tolist() == [36, 36, 35, 37, 36, 36, 36, 36, 35, 36]
    assert test[:10].tolist() == [3, 0, 4, 0, 5, 9, 8, 4, 1, 7]
    pipeline = InMemoryPipeline(loader=Digits(), batch_size=64)
    assert pipeline.fingerprint() == "42492881c7c6a680660ef0e529bc6930"


@needs_sklearn
def test_another_seed_gives_another_split_of_the_same_images():
    one, other = Digits("test", seed=0)(), Digits("test", seed=1)()
    assert np.bincount(one["label"]).tolist() == np.bincount(other["label"]).tolist()
    assert one["image"].tobytes() != other["image"].tobytes()
    whole = [
        sorted(
            image.tobytes()
            for split in ("train", "test")
            for image in Digits(split, seed=seed)()["image"]
        )
        for seed in (0, 1)
    ]
    assert whole[0] == whole[1]


@needs_sklearn
@pytest.mark.spec("io-1")
def test_two_iterations_over_digits_give_the_same_bytes():
    pipeline = InMemoryPipeline(
        loader=Digits(), batch_size=64, shuffle=True, seed=0, num_epochs=2
    )
    first, second = ([b["image"].tobytes() for b in pipeline] for _ in range(2))
    assert len(first) == 2 * (1438 // 64) and first == second
    assert first[:22] != first[22:]


def test_digits_are_plain_values_that_name_their_split():
    assert Digits("test") == Digits(split="test", seed=0) != Digits()
    assert pickle.loads(pickle.dumps(Digits("test"))) == Digits("test")
    with pytest.raises(TrainerConfigError, match="'validation'"):
        Digits("validation")


def test_without_scikit_learn_the_error_names_the_package(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(DataError, match="Install the package scikit-learn"):
        Digits()()

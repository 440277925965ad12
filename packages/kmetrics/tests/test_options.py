import dataclasses
import math
from typing import Annotated

import jax.numpy as jnp
import numpy as np
import pytest

import kmetrics
import kontext
from kmetrics import losses, summaries
from kmetrics._options import Count, Finite, Flag, Positive, Span, Text

MEAN = kmetrics.Mean(values="x")
AROUND = (
    "Bootstrap",
    "Last",
    "MaxOverTime",
    "MinOverTime",
    "SkipIfMissing",
    "TreeMap",
    "TreeReduce",
    "WithCi",
)
# What has to be given.
GIVEN = {
    "ImageGrid": {"columns": {"a": summaries.ShowImages()}},
    "PanopticQuality": {"num_classes": 3},
    "SegmentationJaccard": {"num_objects": 3},
    "Fid": {"features": abs},
    "Lpips": {"features": abs},
    "Ema": {"metric": MEAN, "decay": 0.5},
    "Every": {"metric": MEAN, "n": 2},
    "Grouped": {"metric": MEAN, "groups": 2},
    **{name: {"metric": MEAN} for name in AROUND},
    **{
        name: {"num_clusters": 3, "num_classes": 3}
        for name in kmetrics.clustering.__all__
    },
}


def shipped():
    for module in (kmetrics, losses, summaries):
        for name in module.__all__:
            cls = getattr(module, name)
            is_metric = isinstance(cls, type) and issubclass(cls, kmetrics.Metric)
            if is_metric and cls not in (kmetrics.Metric, kmetrics.Loss):
                yield cls, {} if module is losses else GIVEN.get(name, {})


def options_of(cls, given):
    # Colours are read as numpy reads them.
    others = {*kontext.get_keypaths(cls(**given)), "cmap"}
    return [field.name for field in dataclasses.fields(cls) if field.name not in others]


@pytest.mark.parametrize(
    ("cls", "given"),
    [
        pytest.param(*pair, id=f"{pair[0].__module__}.{pair[0].__name__}")
        for pair in shipped()
    ],
)
def test_what_no_option_can_mean_is_refused_by_its_name(cls, given):
    for option in options_of(cls, given):
        for nonsense in (object(), math.nan, (math.nan, "", None)):
            with pytest.raises((TypeError, ValueError)) as error:
                cls(**{**given, option: nonsense})
            first = str(error.value).splitlines()[0]
            assert cls.__name__ in first and option in first


@dataclasses.dataclass(frozen=True, kw_only=True)
class Told(kmetrics.Metric):
    size: Count = 1
    scale: Positive | None = None
    names: tuple[Text, ...] = ()
    limits: Span = (0.0, 1.0)
    is_on: Flag = False
    shift: Finite = math.inf  # a default of its own is never refused
    free: Annotated[int, "not an option"] = 0
    key: kontext.Key = kontext.REQUIRED


def test_an_option_may_be_what_its_annotation_says():
    told = Told(size=3, scale=2, names=["a"], limits=[0, 2], is_on=True, free="x")
    assert (told.names, told.limits, told.shift) == (("a",), (0, 2), math.inf)
    # Scalars of numpy and jax are numbers, and come out as those of Python.
    told = Told(size=np.int32(3), scale=jnp.float32(0.5), is_on=np.bool_(True))
    assert (told.size, told.scale, told.is_on) == (3, 0.5, True)


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"size": 2.0}, TypeError, "size must be a whole number\n  got 2.0"),
        ({"size": True}, TypeError, "size must be a whole number\n  got True"),
        ({"size": 0}, ValueError, "size must be 1 or more\n  got 0"),
        ({"scale": "x"}, TypeError, "scale must be a number, or None\n  got 'x'"),
        ({"scale": -1}, ValueError, "scale must be above 0, and finite, or None\n"),
        ({"names": "ab"}, TypeError, "names must be a tuple, each of it a text\n"),
        ({"names": ("a", "")}, ValueError, "names must be not empty each\n"),
        ({"limits": (0,)}, TypeError, "limits must be a tuple of two numbers\n"),
        ({"limits": (1, 0)}, ValueError, "limits must be finite, and ascend\n"),
        ({"is_on": 1}, TypeError, "is_on must be True or False\n  got 1"),
        ({"shift": -math.inf}, ValueError, "shift must be finite\n  got -inf"),
        ({"names": ("a" * 99, 3)}, TypeError, "aaa...$"),
    ],
)
def test_an_option_of_a_metric_of_a_user_is_refused_alike(options, kind, message):
    with pytest.raises(kind, match=message) as error:
        Told(**options)
    assert str(error.value).startswith("Told: ")


def test_annotations_that_cannot_be_read_are_no_matter_of_options():
    class Local:
        pass

    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Inside(kmetrics.Metric):
        thing: "Local" = None
        size: Count = 1

    assert Inside(thing=Local, size=2.5).size == 2.5


@pytest.mark.parametrize(
    ("cls", "options", "message"),
    [
        (kmetrics.Std, {"ddof": -1}, "Std: ddof must be 0 or more"),
        (losses.SigmoidBinaryCrossEntropy, {"pos_weight": -1}, "pos_weight must be 0"),
        (losses.L2, {"weight": math.nan}, "L2: the weight must be finite"),
        (kmetrics.Grouped, {"metric": MEAN, "groups": "cat"}, "groups must be a whole"),
        (kmetrics.SkipIfMissing, {"metric": MEAN, "keys": "mask"}, "keys must be a"),
        (kmetrics.Quantiles, {"q": (0.5, 0.5)}, "each once"),
        (kmetrics.Quantiles, {"smallest": 2.0, "largest": 1.0}, "below largest"),
        (kmetrics.TapPosition, {"thresholds": ()}, "thresholds must be one or more"),
        (kmetrics.Last, {"metric": "mean"}, "metric must be a metric, or a loss"),
    ],
)
def test_options_that_were_taken_for_something_are_refused(cls, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        cls(**options)

"""Names of axes, compared with the names in a spec (`config.check_names`)."""

import sys
import types

import pytest

from ktyping import Float, KTypeCheckError, backend, config, dim, matches, typechecked


class DataArray:
    """Looks like a labelled array: sizes, a dtype, and a name for each axis."""

    def __init__(self, **axes):
        self.shape = tuple(axes.values())
        self.dims = tuple(axes)
        self.dtype = "float32"


@pytest.fixture(autouse=True)
def xarray(monkeypatch):
    module = types.ModuleType("xarray")
    module.DataArray = DataArray
    monkeypatch.setitem(sys.modules, "xarray", module)
    # Classes are told apart once: registering forgets what was known of this one.
    from ktyping._backends import LIBRARIES, add_library

    add_library(LIBRARIES["xarray"])
    yield
    config.set(check_names=False)


@typechecked
def f(x: backend.xarray.Float["time place"]) -> backend.xarray.Float["_ place"]:
    return x


def test_names_of_axes_do_not_matter_unless_asked():
    assert f(DataArray(place=2, time=3)).shape == (2, 3)


def test_axes_must_be_called_as_the_spec_says_also_in_calls_seen_before():
    wrong, right = DataArray(place=2, time=3), DataArray(time=2, place=3)
    f(wrong), f(right)
    config.set(check_names=True)
    assert f(right) is right
    with pytest.raises(KTypeCheckError) as caught:
        f(wrong)
    error = caught.value
    assert (error.code, error.axis, error.actual) == ("structure", 0, "place")
    assert "axis 0 is called 'place', but time is wanted" in str(error)
    assert "Hint: rename the axes, or reorder them" in str(error)
    config.set(check_names=False)
    assert f(wrong) is wrong


@pytest.mark.parametrize(
    ("spec", "fits"),
    [
        ("time 3", True),
        ("_ place", True),
        ("... place", True),
        ("*b place", True),
        ("*b time", False),
        ("time? place", True),
        ("n|time place", True),
        ("time<=2 #place", True),
        ("n<=2 place", False),
        ("time #m", False),
        ("time place+1", True),
    ],
)
def test_terms_that_name_no_axis_take_any_name(spec, fits):
    config.set(check_names=True)
    kind = backend.xarray.Float[spec]
    assert matches(DataArray(time=2, place=3), kind) is fits


def test_a_class_in_front_of_the_spec_is_compared_as_well():
    config.set(check_names=True)

    @typechecked
    def g(x: Float[DataArray, "time"]):
        return dim["time"]

    assert g(DataArray(time=4)) == 4
    with pytest.raises(KTypeCheckError, match="called 'place'"):
        g(DataArray(place=4))

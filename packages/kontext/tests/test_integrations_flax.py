"""`interms_property`: reading and writing the intermediate values of Flax modules."""

import pickle

import pytest

import kontext
from kontext import PathError, PathLookupError, PathTypeError
from kontext.integrations.flax import interms_property

pytest.importorskip("flax", reason="kontext needs no Flax, but serves its modules")

import flax.linen as nn
import jax.numpy as jnp
from flax import nnx


class Layer(nn.Module):
    @nn.compact
    def __call__(self, x):
        self.interms["h"] = x + 1
        self.interms["h"] = x + 2
        return self.interms["h"]

    interms = interms_property()


class Reader(nn.Module):
    wanted: str
    interms = interms_property()

    @nn.compact
    def __call__(self, x):
        return self.interms.get_by_path(self.wanted)


class Holder(nn.Module):
    wanted: str
    interms = interms_property()

    @nn.compact
    def __call__(self, x):
        Layer(name="enc")(x)
        self.interms["mine"] = x
        return Reader(self.wanted, name="reader")(x)


def captured(module, x=0):
    return module.apply({}, jnp.float32(x), mutable=["intermediates"])


def read(path):
    value, _ = captured(Holder(path))
    return value


def test_linen_item_is_what_was_sown_last():
    value, variables = captured(Layer())
    assert value == 2
    assert tuple(map(int, variables["intermediates"]["h"])) == (1, 2)


def test_linen_path_without_dot_begins_at_the_outermost_module():
    assert read("enc.h[0]") == 1
    assert tuple(map(int, read("enc.h"))) == (1, 2)
    assert read("mine[-1]") == 0


def test_linen_a_path_that_is_a_value_begins_at_the_outermost_module():
    assert read(kontext.Path("enc", "h", -1)) == read("enc.h[-1]")
    with pytest.raises(PathTypeError, match="not a path: int 5"):
        read(5)


def test_linen_a_value_is_sown_under_a_text():
    class Numbered(nn.Module):
        interms = interms_property()

        @nn.compact
        def __call__(self, x):
            self.interms[3] = x

    with pytest.raises(PathTypeError, match="under a text\n  got int 3"):
        captured(Numbered())


def test_linen_dots_lead_from_the_module_up():
    assert read("..enc.h[-1]") == 2
    assert read("..mine[0]") == 0
    with pytest.raises(PathLookupError, match="no 'h' at path 'h'"):
        read(".h")


def test_linen_captured_outputs_are_read_like_sown_ones():
    value, _ = Holder("enc.__call__[0]").apply(
        {}, jnp.float32(0), mutable=["intermediates"], capture_intermediates=True
    )
    assert value == 2


def test_linen_path_above_the_outermost_module_is_refused():
    with pytest.raises(PathError) as caught:
        read("...enc.h")
    assert str(caught.value) == (
        "'...enc.h' leads above the outermost module\n"
        "  read in: reader\n"
        "  at most 2 leading dots; without any, a path begins at the outermost module"
    )


def test_linen_unknown_name_lists_what_was_sown():
    with pytest.raises(PathLookupError) as caught:
        read("enc.hh")
    assert "with keys: 'h'" in str(caught.value)
    assert caught.value.suggestions == ("enc.h",)


def test_linen_says_when_nothing_is_captured():
    with pytest.raises(PathLookupError, match="mutable=") as caught:
        Layer().apply({}, jnp.float32(0))
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_linen_module_outside_of_apply_has_no_intermediates():
    for use in (
        lambda: Layer().interms["h"],
        lambda: Layer().interms.get_by_path(".h"),
        lambda: Layer().interms.__setitem__("h", 1),
    ):
        with pytest.raises(PathError, match="inside of init and apply"):
            use()


class NnxLayer(nnx.Module):
    interms = interms_property()

    def __call__(self, x):
        self.interms["h"] = x + 1
        self.interms["h"] = x + 2
        return self.interms["h"]


class NnxHolder(nnx.Module):
    interms = interms_property()

    def __init__(self):
        self.enc = NnxLayer()

    def __call__(self, x, path):
        self.enc(x)
        return self.interms.get_by_path(path)


def nnx_read(path):
    module = NnxHolder()
    return nnx.capture(module, nnx.Intermediate)(jnp.float32(0), path)


def test_nnx_item_is_what_was_sown_last():
    value, sown = nnx.capture(NnxLayer(), nnx.Intermediate)(jnp.float32(0))
    assert value == 2
    assert tuple(map(int, kontext.get(sown, "h").get_value())) == (1, 2)


def test_nnx_path_leads_from_the_module_down():
    value, sown = nnx_read(".enc.h[0]")
    assert value == 1
    # Reading left everything as it was sown.
    assert tuple(map(int, kontext.get(sown, "enc.h").get_value())) == (1, 2)
    assert tuple(map(int, nnx_read(".enc.h")[0])) == (1, 2)


@pytest.mark.parametrize("path", ["enc.h", "..enc.h"])
def test_nnx_module_does_not_know_what_holds_it(path):
    with pytest.raises(PathError, match="begin with one dot"):
        nnx_read(path)


@pytest.mark.parametrize("path", [".enc.hh", ".enc", "."])
def test_nnx_name_that_was_not_sown_is_an_error(path):
    with pytest.raises(PathLookupError, match=r"nnx\.capture"):
        nnx_read(path)


def test_nnx_reading_outside_of_a_capture_is_an_error():
    with pytest.raises(PathLookupError, match=r"nnx\.capture"):
        _ = NnxLayer().interms["h"]


def test_other_classes_are_refused():
    class Plain:
        interms = interms_property()

    with pytest.raises(PathTypeError, match="got a Plain"):
        _ = Plain().interms

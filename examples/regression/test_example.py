"""Every claim of the story, checked on what the script prints."""

import json
import math
import pathlib
import subprocess
import sys

import pytest

STORY = pathlib.Path(__file__).with_name("story.py")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    workdir = tmp_path_factory.mktemp("story")
    done = subprocess.run(
        [sys.executable, STORY, workdir], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    findings = {}
    for line in done.stdout.splitlines():
        findings |= json.loads(line)
    return findings


def test_a_recorded_call_is_a_config_that_travels_as_json(found):
    assert found["config type"] == "ConfigDict"
    recorded = found["config json"]
    assert recorded["__qualname__"] == "optax:adam"
    assert recorded["learning_rate"] == 3e-3
    assert found["json round trip is equal"] is True
    assert found["it resolves to an optimizer"] is True


def test_a_reference_follows_the_number_of_steps(found):
    assert found["decay steps before"] == 1000
    assert found["decay steps after"] == 200


@pytest.mark.parametrize("kind", ["module", "optimizer"])
def test_a_built_object_is_refused_with_advice(found, kind):
    text = found[f"refused {kind}"]
    assert ".model of the call of ktrain:Trainer" in text
    assert "story.py:" in text
    assert "konfig.imports" in text


def test_paths_read_dicts_attributes_and_lists(found):
    assert found["batch.image"] == "an image"
    assert found["preds.logits"] == [0.5]
    assert found["preds.aux[0].pos"] == [3, 4]
    assert "'image'" in found["missing path"]
    assert "did you mean" in found["missing path"]


def test_a_shape_error_names_the_axis_what_bound_it_and_the_sizes(found):
    assert found["projected"] == [2, 3, 5]
    text = found["shape error"]
    assert "axis 0" in text
    assert "c is 9" in text
    assert "c = 4" in text
    assert "Inferred Dims" in text
    assert "x axis 2" in text


def test_a_custom_loss_is_right_and_half_the_weight_is_exactly_half(found):
    by_hand = (math.log(math.cosh(1.0)) + math.log(math.cosh(2.0))) / 2
    assert found["log cosh"] == pytest.approx(by_hand, rel=1e-6)
    assert found["half the weight"] == found["log cosh"] / 2


def test_two_sums_are_exact_where_the_mean_of_means_is_not(found):
    assert found["within, merged"] == pytest.approx(3 / 5, rel=1e-7)
    assert found["within, mean of means"] == pytest.approx((3 / 4 + 0) / 2, rel=1e-7)


def test_300_steps_lower_the_loss(found):
    assert found["first run"] == [0, 200, "done"]
    curve = found["loss"]
    assert list(curve) == ["0", "50", "100", "150"]
    assert curve["150"] < 0.5 * curve["0"]
    assert found["evaluated loss"] < 0.5 * curve["0"]


def test_a_second_call_goes_on_from_200(found):
    assert found["second run"] == [200, 300, "done"]


def test_the_norm_of_an_inner_layer_is_that_of_the_layer(found):
    assert found["enc_norm at 0"] == pytest.approx(
        found["enc_norm at 0 by hand"], rel=1e-5
    )


def test_an_evaluator_inherits_and_counts_each_example_once(found):
    assert found["evaluated examples"] == 250
    assert found["evaluated values"] == [
        "losses/logcosh",
        "losses/total",
        "metrics/enc_norm",
        "metrics/gap",
        "metrics/within",
    ]


def test_a_metric_is_re_pointed_in_one_line(found):
    assert found["gap re-pointed"] == 0.0


def test_a_sweep_changes_width_rate_and_optimizer(found):
    sweep = found["sweep"]
    assert sweep["width 4"]["params"] == 8 * 4 + 4 + 4 + 1
    assert sweep["width 128"]["params"] == 8 * 128 + 128 + 128 + 1
    assert sweep["width 128"]["loss"] < sweep["width 4"]["loss"]
    assert sweep["slow"]["loss"] > 2 * sweep["width 128"]["loss"]
    assert sweep["sgd"]["optimizer"] == "optax:sgd"
    assert sweep["sgd"]["loss"] != sweep["width 128"]["loss"]

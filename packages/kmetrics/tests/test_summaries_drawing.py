"""Boxes, segmentations, grids and tables of confusion."""

import subprocess
import sys

import numpy as np
import pytest

import kmetrics
from kmetrics.summaries import (
    Image,
    ImageGrid,
    ShowBoxes,
    ShowConfusionMatrix,
    ShowImages,
    ShowSegmentations,
    Worst,
)
from kmetrics.summaries._font import text_mask

RNG = np.random.default_rng(0)
BYTES = RNG.integers(0, 255, (2, 4, 6, 3), np.uint8)
BLACK = np.zeros((1, 4, 6, 3), np.uint8)
RED, GREEN = [1.0, 0, 0], [0, 1.0, 0]


def letters(pixels, legend):
    """A picture as text, one letter per colour."""
    return ["".join(legend[tuple(p)] for p in row) for row in pixels.tolist()]


@pytest.mark.spec("kmetrics-81")
def test_boxes_are_drawn_from_the_first_pixel_to_the_last():
    boxes = np.float32([[0, 0, 1, 0.5], [0.25, 0.5, 0.75, 1], [0.5, 0.5, 0.5, 0.5]])
    got = ShowBoxes(palette=[RED, GREEN])(images=BLACK, boxes=boxes[None])
    legend = {(0, 0, 0): ".", (255, 0, 0): "r", (0, 255, 0): "g"}
    assert letters(got.pixels[0], legend) == [
        "rrr...",
        "r.rggg",
        "r.rggg",
        "rrr...",
    ]


@pytest.mark.slow
@pytest.mark.spec("kmetrics-81")
def test_drawing_needs_neither_tensorflow_nor_any_picture_library():
    script = """
import sys
import numpy as np
import jax
before = set(sys.modules)
from kmetrics.summaries import ShowBoxes
image = ShowBoxes()(images=np.zeros((1, 8, 8, 1)), boxes=np.ones((1, 1, 4)))
image.to_png()
print(*{name.partition(".")[0] for name in set(sys.modules) - before})
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    strangers = set(done.stdout.split()) - set(sys.stdlib_module_names)
    assert strangers <= {"kmetrics", "kontext", "ktyping", "numpy", "jax", "jaxlib"}


def test_boxes_beyond_the_picture_are_cut_and_no_boxes_are_left_out():
    boxes = [[-1, -1, 0.5, 0.5], [0.5, 0.5, 2, 2], [np.nan] * 4, [0.9, 0.9, 0.1, 0.1]]
    got = ShowBoxes(palette=[RED], line_width=1)(
        images=BLACK[..., :1], boxes=np.float32(boxes)[None]
    )
    red = (got.pixels[0] == [255, 0, 0]).all(axis=-1)
    assert [row.tolist() for row in red.astype(int)] == [
        [0, 0, 1, 0, 0, 0],
        [1, 1, 1, 0, 0, 0],
        [0, 0, 0, 1, 1, 1],
        [0, 0, 0, 1, 0, 0],
    ]


def test_labels_choose_the_colours_of_boxes_and_leave_out_padding():
    boxes = np.float32([[[0, 0, 1, 1 / 6], [0, 0.5, 1, 4 / 6], [0, 0, 1, 1]]])
    metric = ShowBoxes(palette=[RED, GREEN])
    got = metric(images=BLACK, boxes=boxes, labels=np.array([[3, 0, -1]]))
    legend = {(0, 0, 0): ".", (255, 0, 0): "r", (0, 255, 0): "g"}
    assert letters(got.pixels[0], legend) == ["g..r.."] * 4
    with pytest.raises(ValueError, match=r"boxes \[2, 3, 4\], images \[1, 4, 6, 3\]"):
        metric(images=BLACK, boxes=np.zeros((2, 3, 4)))
    with pytest.raises(ValueError, match=r"labels \[1, 2\], boxes \[1, 3, 4\]"):
        metric(images=BLACK, boxes=boxes, labels=np.array([[1, 2]]))
    with pytest.raises(ValueError, match="line_width must be 1 or more"):
        ShowBoxes(line_width=0)


def test_labels_of_boxes_are_integers_of_any_width():
    boxes = np.float32([[[0, 0, 1, 1]]])
    wide = ShowBoxes()(images=BLACK, boxes=boxes, labels=np.array([[200]]))
    narrow = ShowBoxes()(images=BLACK, boxes=boxes, labels=np.uint8([[200]]))
    assert narrow == wide
    with pytest.raises(TypeError, match="labels must be integers\n  got float32"):
        ShowBoxes()(images=BLACK, boxes=boxes, labels=np.float32([[1]]))


def test_a_box_far_beyond_the_picture_has_no_side_in_it():
    far = np.float32([[[-1e30, -1e30, 1e30, 1e30], [-1e30, 0.5, 1e30, 1]]])
    red = ShowBoxes(palette=[RED])(images=BLACK, boxes=far).pixels[0, :, :, 0] > 0
    assert red.astype(int).tolist() == [[0, 0, 0, 1, 0, 1]] * 4


REGIONS = np.array([[0, 0, 1], [0, 2, 1], [-1, 2, 2]])[None, ..., None]
COLORS = {(255, 0, 0): "r", (0, 255, 0): "g", (0, 0, 255): "b", (38, 38, 38): "x"}


@pytest.mark.spec("kmetrics-79")
def test_a_palette_is_an_array_or_a_name():
    for palette in (np.eye(3), np.uint8(255 * np.eye(3)), tuple(map(tuple, np.eye(3)))):
        got = ShowSegmentations(palette=palette)(segmentations=REGIONS)
        assert letters(got.pixels[0], COLORS) == ["rrg", "rbg", "xbb"]
    again = ShowSegmentations(palette=np.eye(2, 3))(segmentations=REGIONS)
    assert letters(again.pixels[0], COLORS) == ["rrg", "rrg", "xrr"]
    many = np.arange(40).reshape(1, 5, 8, 1)
    hues = ShowSegmentations()(segmentations=many).pixels.reshape(-1, 3)
    assert len(np.unique(hues, axis=0)) == 40
    safe = ShowSegmentations(palette="okabe_ito")(segmentations=many).pixels
    assert safe[0, 0, 1].tolist() == [0xE6, 0x9F, 0x00]
    with pytest.raises(ValueError, match="use one of 'hues', 'okabe_ito'"):
        ShowSegmentations(palette="rainbow")


def test_shares_show_the_largest_and_darken_by_their_entropy():
    shares = np.float32([[1, 0], [0.5, 0.5], [0.2, 0.8]]).reshape(1, 1, 3, 2)
    metric = ShowSegmentations(palette=[RED, GREEN])
    assert letters(metric(segmentations=shares).pixels[0], COLORS) == ["rrg"]
    dark = metric.replace(entropy=True)(segmentations=shares).pixels[0, 0]
    entropy = -(0.2 * np.log2(0.2) + 0.8 * np.log2(0.8))
    assert dark.tolist() == [[255, 0, 0], [0, 0, 0], [0, round(255 * (1 - entropy)), 0]]


def test_segmentations_over_images():
    image = np.full((1, 3, 3, 3), 100, np.uint8)
    metric = ShowSegmentations(palette=np.eye(3), opacity=0.25)
    over = metric(segmentations=REGIONS, images=image).pixels[0]
    assert over[0, 0].tolist() == [round(75 + 255 / 4), 75, 75]
    edges = metric.replace(edges=True)(segmentations=REGIONS, images=image).pixels[0]
    legend = {**COLORS, (100, 100, 100): "."}
    # Each border in the colour of the higher class.
    assert letters(edges, legend) == [".b.", "bbb", "b.."]
    white = ShowSegmentations(palette=np.eye(3), edges=True)(segmentations=REGIONS)
    legend = {**COLORS, (255, 255, 255): "w"}
    assert letters(white.pixels[0], legend) == ["rwg", "www", "wbb"]


def test_shares_that_are_no_numbers_are_magenta_and_counted():
    shares = np.float32([[1, 0], [np.nan, 0.5], [0, 1]]).reshape(1, 1, 3, 2)
    for options in ({}, {"entropy": True}):
        got = ShowSegmentations(palette=[RED, GREEN], **options)(segmentations=shares)
        assert got.pixels[0].tolist() == [[[255, 0, 0], [255, 0, 255], [0, 255, 0]]]
        assert got.num_nan == 1


def test_segmentations_that_tell_no_class_are_refused():
    metric = ShowSegmentations()
    with pytest.raises(ValueError, match=r"got int32\[1, 3, 3\]|got int64\[1, 3, 3\]"):
        metric(segmentations=REGIONS[..., 0])
    with pytest.raises(TypeError, match="one share per pixel tells no class"):
        metric(segmentations=REGIONS.astype(np.float32))
    with pytest.raises(TypeError, match="entropy needs the shares"):
        metric.replace(entropy=True)(segmentations=REGIONS)
    with pytest.raises(ValueError, match=r"images \[2, 4, 6, 3\], segmentations"):
        metric(segmentations=REGIONS, images=BYTES)
    with pytest.raises(ValueError, match=r"opacity must be in \[0, 1\]"):
        ShowSegmentations(opacity=2)


def grid_of(**options):
    columns = {"image": ShowImages(images="x"), "b": ShowImages(images="y")}
    return ImageGrid(columns=columns, **options)


CONTEXT = {"x": BYTES, "y": BYTES[:, :2, :, :1]}


@pytest.mark.spec("kmetrics-80")
def test_a_grid_has_a_background_and_merges_with_nothing():
    grid = grid_of(bg_color=0.5)
    state = grid.get_state_from_context(CONTEXT)
    got = state.compute()
    # Margins of 4; letters of 8; two rows; "image" is 29 wide, the second picture 6.
    assert got.pixels.shape == (1, 4 + 8 + 2 * (4 + 4) + 4, 4 + 29 + 4 + 6 + 4, 3)
    assert got.pixels[0, 0, 0].tolist() == [128, 128, 128]
    assert np.array_equal(got.pixels[0, 16:20, 4:10], BYTES[0])
    assert np.array_equal(got.pixels[0, 24:28, 4:10], BYTES[1])
    small = got.pixels[0, 16:18, 37:43]
    assert np.array_equal(small, BYTES[0, :2, :, :1].repeat(3, axis=-1))
    for merged in (state | grid.empty(), grid.empty() | state):
        assert merged.compute() == got
    assert grid.empty().compute().pixels.shape == (0, 1, 1, 1)
    red = grid_of(bg_color=(1, 0, 0)).replace(columns={"image": ShowImages(images="x")})
    assert red(CONTEXT).pixels[0, 0, 0].tolist() == [255, 0, 0]


def test_a_grid_is_labelled_zoomed_and_shows_transparency():
    column = {"a": ShowImages(images="x", num_images=1)}
    clear = np.zeros((1, 1, 1, 4), np.float32)
    got = ImageGrid(columns=column, zoom=3)({"x": clear}).pixels[0]
    assert got.shape == (4 + 8 + 4 + 3 + 4, 4 + 5 + 4, 3)
    assert np.array_equal(got[4:12, 4:9, 0] == 0, text_mask("a"))
    assert (got[16:19, 4:7] == 255).all()
    dark = ImageGrid(columns=column, bg_color=0)({"x": clear}).pixels[0]
    assert np.array_equal(dark[4:12, 4:9, 0] == 255, text_mask("a"))


def test_a_grid_names_what_is_wrong_with_its_columns():
    with pytest.raises(ValueError, match="would show different examples in one row"):
        ImageGrid(columns={"a": ShowImages(), "b": ShowImages(selection="random")})
    with pytest.raises(ValueError, match="a random choice in 'a' needs ids"):
        one = ShowImages(selection="random")
        ImageGrid(columns={"a": one, "b": one})
    same = Worst(by="score")
    both = {name: ShowImages(selection=same, images="x") for name in "ab"}
    assert ImageGrid(columns=both).keypaths() == ("x", "score")
    with pytest.raises(ValueError, match="columns must name one column or more"):
        ImageGrid(columns=[ShowImages()])
    with pytest.raises(TypeError, match="the column 'a' is no summary"):
        ImageGrid(columns={"a": "images"})
    with pytest.raises(ValueError, match="a colour is made of numbers in 0 to 1"):
        grid_of(bg_color=200)
    with pytest.raises(ValueError, match="zoom must be 1 or more"):
        grid_of(zoom=0)
    with pytest.raises(TypeError, match="the name of a column must be a text"):
        ImageGrid(columns={1: ShowImages()})
    with pytest.raises(TypeError, match="got image\n  columns image, b"):
        grid_of().get_state(image={"images": BYTES})
    with pytest.raises(TypeError, match="the column 'a' computes no Image"):
        ImageGrid(columns={"a": kmetrics.Mean(values="x")})(CONTEXT)
    with pytest.raises(Exception, match="z") as error:
        ImageGrid(columns={"a": ShowImages(images="z")})(CONTEXT)
    assert error.value.__notes__ == ["column a of ImageGrid"]


def test_a_table_of_confusion_is_read_and_seen():
    metric = ShowConfusionMatrix(num_classes=2, class_names=("cat", "dog"))
    labels, preds = np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])
    got = metric(labels=labels, pred_labels=preds)
    assert got["table"].columns == ("true \\ predicted", "cat", "dog")
    assert got["table"].rows == (("cat", 2, 1), ("dog", 0, 1))
    pixels = got["image"].pixels
    # A cell holds "cat", 17 wide, and 3 on each side; letters are 8 high.
    assert pixels.shape == (1, 3 * 14, 3 * 23, 3)
    assert pixels[0, 14, 23].tolist() == [253, 231, 37]  # the end of viridis
    assert pixels[0, 28, 23].tolist() == [68, 1, 84]
    assert np.array_equal(pixels[0, 17:25, 26:31, 0] == 0, text_mask("2"))
    rows = metric.replace(normalize="true")(labels=labels, pred_labels=preds)
    assert rows["table"].rows[0] == ("cat", pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert metric.empty().compute() == {}
    many = ShowConfusionMatrix(num_classes=25)
    plain = many(labels=np.array([24]), pred_labels=np.array([3]))["image"]
    assert plain.pixels.shape == (1, 200, 200, 3)
    # A cell becomes smaller, so that the picture does not become larger.
    assert metric.replace(class_names=None).shown(np.ones((200, 200)))[
        "image"
    ].pixels.shape == (1, 1000, 1000, 3)
    with pytest.raises(ValueError, match="2 names, 3 classes"):
        metric.replace(num_classes=3).get_state(labels=labels, pred_labels=preds)
    table = kmetrics.ConfusionMatrix(num_classes=2, pred_labels="p", labels="y")
    view = ShowConfusionMatrix(source=table, class_names=("cat",))
    with pytest.raises(ValueError, match="1 names, 2 classes"):
        view({"p": preds, "y": labels})
    for names in ("ab", (1, 2)):
        with pytest.raises(TypeError, match="class_names must be a tuple, each"):
            metric.replace(class_names=names)
    with pytest.raises(ValueError, match="cmap: a colour is made of numbers"):
        metric.replace(cmap=None)


def test_a_table_of_confusion_keeps_the_weights_of_the_mask():
    metric = ShowConfusionMatrix(num_classes=2)
    labels, preds = np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])
    mask = np.float32([0.5, 0.25, 2, 1])
    got = metric(labels=labels, pred_labels=preds, mask=mask)
    assert got["table"].rows == (("0", 0.75, 2.0), ("1", 0.0, 1.0))
    # "0.75" is 23 wide; the cell has 3 on each side.
    drawn = got["image"].pixels[0, 17:25, 32:55, 0]
    assert np.array_equal(drawn == 255, text_mask("0.75"))


def test_letters_are_all_there_and_differ():
    shapes = {chr(i): text_mask(chr(i)) for i in range(33, 127)}
    assert all(mask.shape == (8, 5) and mask.any() for mask in shapes.values())
    assert len({mask.tobytes() for mask in shapes.values()}) == 94
    assert not text_mask(" ").any() and text_mask("").shape == (8, 0)
    assert text_mask("ab").shape == (8, 11)
    assert np.array_equal(text_mask("ä"), text_mask("?"))
    assert isinstance(grid_of()(CONTEXT), Image)

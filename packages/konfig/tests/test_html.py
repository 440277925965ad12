"""The tree of a config in a notebook: what it holds, and that it is only markup."""

import html.parser
import re

import konfig
from konfig import ConfigDict

with konfig.imports(lazy=True):
    import types as T


class Reader(html.parser.HTMLParser):
    """Checks that every tag is closed, and collects what a test asks for."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.texts, self.titles = [], [], [], []
        self.depth = 0

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.seen.append((tag, dict(attrs)))
        self.depth = max(self.depth, self.open.count("details"))
        self.titles += [value for key, value in attrs if key == "title"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1] != "style":
            self.texts.append(data)

    @property
    def text(self):
        return "".join(self.texts)


def read(cfg):
    reader = Reader()
    reader.feed(cfg._repr_html_())
    assert not reader.open
    return reader


def config():
    node = T.SimpleNamespace(1, x="<b>&")
    cfg = ConfigDict(steps=10, name="text", model=node, l=[1, {"deep": (2,)}])
    cfg.again = node
    cfg.half = cfg.ref.steps // 2
    cfg.lost = cfg.ref.nothing
    cfg.need = konfig.required(float)
    return cfg


def test_the_tree_shows_every_kind_of_value():
    text = read(config()).text
    for part in (
        "steps: 10",
        "name: 'text'",
        "types.SimpleNamespace(…)",
        "x: '<b>&'",
        "again: = cfg.model",
        "cfg.ref.steps // 2 = 5",
        "cfg.ref.nothing leads nowhere",
        "<required float>",
        "list of 2",
        "tuple of 1",
    ):
        assert part in text, part


def test_it_is_markup_without_script_that_folds():
    reader = read(config())
    tags = {tag for tag, _ in reader.seen}
    assert tags == {"div", "style", "details", "summary", "ul", "li", "span"}
    assert not [name for _, attrs in reader.seen for name in attrs if name[:2] == "on"]
    opened = ["open" in attrs for tag, attrs in reader.seen if tag == "details"]
    assert opened == [True, True, True, False, False]
    assert reader.depth == 4
    assert "<b>" not in config()._repr_html_()


def test_it_has_colors_for_light_and_dark():
    page = config()._repr_html_()
    assert "prefers-color-scheme:dark" in page
    colors = [re.findall(r"--konfig-call:(#\w+)", page)]
    assert len(set(colors[0])) == 2
    assert "color:inherit" in page
    assert "http" not in page


def test_tooltips_say_where_a_field_was_written():
    cfg = config()
    konfig.apply_overrides(cfg, ["steps=20"])
    titles = read(cfg).titles
    assert "steps=20 on the command line" in titles
    assert any("test_html.py" in title for title in titles)


def test_it_never_raises_and_stays_small():
    cfg = ConfigDict()
    cfg.me = cfg
    assert "me: = cfg" in read(cfg).text
    many = ConfigDict(l=list(range(5000)), k=konfig.ref_fn(lambda: 1 / 0)())
    reader = read(many)
    assert "… 3001 more" in reader.text
    many = ConfigDict(a=1)
    many.k = konfig.ref_fn(lambda x: x / 0, many.ref.a)
    assert "ZeroDivisionError" in read(many).text
    deep = ConfigDict()
    at = deep
    for _ in range(600):
        at.x = {}
        at = at.x
    assert "konfig" in read(deep).seen[0][1]["class"]
    assert "list of 2" in read(konfig.ConfigList([1, 2])).text


def test_a_notebook_prints_the_text_of_a_config():
    class Printer:
        text = staticmethod(lambda text: written.append(text))

    written = []
    cfg = ConfigDict(a=[1])
    for value, cycle in ((cfg, False), (cfg.a, False), (cfg, True), (cfg.a, True)):
        value._repr_pretty_(Printer, cycle)
    assert written == ["ConfigDict({'a': [1]})", "[1]", "ConfigDict(…)", "[…]"]

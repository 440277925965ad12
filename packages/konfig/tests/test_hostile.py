"""Hostile data: whatever it names, nothing of it runs."""

import json
import sys

import pytest

import konfig

SEEN = []
WATCHED = (
    "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.putenv", "os.remove",
    "os.rename", "os.chmod", "os.mkdir", "subprocess.Popen", "socket.connect",
    "socket.bind", "shutil.rmtree", "pty.spawn", "ctypes.dlopen", "webbrowser.open",
    "pickle.find_class", "builtins.breakpoint",
)  # fmt: skip
WATCHING = []


def _watch(event, args):
    if WATCHING and event in WATCHED:
        SEEN.append((event, args))


sys.addaudithook(_watch)


def call(target, /, *args, **named):
    return {"__qualname__": target, **dict(zip("0123", args, strict=False)), **named}


def const(name):
    return {"__const__": name}


def expr(*parts):
    return {"a": "text", "x": {"__expr__": list(parts)}}


SHELL = "touch konfig-was-here"
EVAL = "__import__('os').system('touch konfig-was-here')"
HOSTILE = [
    # Plain names of what runs code.
    call("os:system", SHELL),
    call("posix:system", SHELL),
    call("subprocess:run", SHELL, shell=True),
    call("subprocess:Popen", SHELL, shell=True),
    call("builtins:eval", EVAL),
    call("builtins:exec", EVAL),
    call("builtins:compile", EVAL, "x", "exec"),
    call("builtins:__import__", "antigravity"),
    call("builtins:getattr", const("os:"), "system"),
    call("builtins:setattr", const("builtins:"), "len", 3),
    call("builtins:open", "konfig-was-here", "w"),
    call("io:open", "konfig-was-here", "w"),
    call("builtins:breakpoint"),
    call("importlib:import_module", "antigravity"),
    call("runpy:run_path", "evil.py"),
    call("pty:spawn", ["sh"]),
    call("code:interact"),
    call("ctypes:CDLL", "libc.so.6"),
    call("pickle:loads", {"__bytes__": "Y29zCnN5c3RlbQooUydpZCcKdFIu"}),
    call("marshal:loads", {"__bytes__": "4w=="}),
    call("shutil:rmtree", "konfig-was-here"),
    call("webbrowser:open", "http://localhost"),
    call("socket:create_connection", ["localhost", 1]),
    call("multiprocessing:Process", target=const("os:abort")),
    call("threading:Thread", target=const("os:abort")),
    call("pathlib:Path.write_text", call("pathlib:Path", "konfig-was-here"), "x"),
    call("timeit:timeit", EVAL),
    call("pdb:run", EVAL),
    call("signal:raise_signal", 9),
    call("sys:exit"),
    call("sys:setrecursionlimit", 1),
    # Old dotted names and submodules.
    call("os.system", SHELL),
    call("concurrent.futures:ThreadPoolExecutor"),
    call("asyncio:create_subprocess_shell", SHELL),
    # Aliases in harmless modules, and walks through attributes.
    call("logging:os.system", SHELL),
    call("logging:sys.modules"),
    call("json:codecs.open", "konfig-was-here", "w"),
    call("fractions:Fraction.__init__.__globals__"),
    call("fractions:Fraction.__class__"),
    call("fractions:Fraction.__subclasses__"),
    call("json:decoder.scanner.re.sre_compile.compile", "x"),
    call("logging:Formatter.__init__.__builtins__"),
    call("textwrap:re.enum.sys.exit"),
    call("shlex:os.popen", SHELL),
    # What calls its arguments.
    call("functools:partial", const("os:system"), SHELL),
    call("functools:partial", const("builtins:eval"), EVAL),
    call("functools:reduce", const("builtins:eval"), [EVAL]),
    call("builtins:map", const("os:system"), [SHELL]),
    call("builtins:sorted", [SHELL], key=const("os:system")),
    call("builtins:max", [SHELL, "true"], key=const("os:system")),
    call("itertools:starmap", const("os:system"), [[SHELL]]),
    call("itertools:accumulate", [SHELL, SHELL], const("os:system")),
    call("operator:call", const("os:system"), SHELL),
    call("operator:methodcaller", "system", SHELL),
    call("operator:attrgetter", "__class__.__base__"),
    # Constants and containers.
    {"k": const("os:system")},
    {"k": {"__set__": [const("os:system")]}},
    {"k": {"__tuple__": [call("os:system", SHELL)]}},
    {"k": [[{"deep": call("os:system", SHELL)}]]},
    {"__items__": [[{"__tuple__": [1]}, call("os:system", SHELL)]]},
    {"k": {"__placeholder__": {"value": call("os:system", SHELL)}}},
    {"k": {"__placeholder__": {"default": const("os:system")}}},
    {"k": {"__placeholder__": {"default": call("os:system", SHELL)}}},
    {"k": {"__placeholder__": {"default": [call("posix:system", SHELL)]}}},
    expr("add", {"__placeholder__": {"default": const("os:system")}}, 1),
    # References.
    expr("call", const("os:system"), SHELL),
    expr("call", {"__ref__": "a.upper"}),
    expr("attr", {"__ref__": "a"}, "__class__"),
    expr("call", {"__expr__": ["attr", {"__ref__": "a"}, "format"]}, "x"),
    expr("format", "{0.__class__.__mro__}", {"__ref__": "a"}),
    expr("where", True, {"__expr__": ["call", const("os:system"), SHELL]}, 0),
    {"a": const("os:"), "x": {"__ref__": "a.system"}},
    {"x": {"__ref__": "__class__"}},
    expr("exec", EVAL),
    # Malformed names.
    call("os;system", SHELL),
    call("os:system()", SHELL),
    call("../evil:f"),
    call(".os:system", SHELL),
    call("os::system", SHELL),
    {"__qualname__": ["os:system"]},
    {"__qualname__": "os:system", "__const__": "os:system"},
    {"k": {"__const__": "os:system", "x": 1}},
]
ALLOWS = [
    None,
    ["*"],
    ["fractions.*"],
    ["fractions.*", "logging.*", "json.*", "functools.*", "itertools.*"],
    ["builtins.*", "operator.*", "textwrap.*", "shlex.*"],
]


def test_there_are_enough_of_them():
    assert len({json.dumps(data) for data in HOSTILE}) >= 60


@pytest.mark.parametrize("data", HOSTILE, ids=lambda data: json.dumps(data)[:50])
def test_nothing_of_it_runs(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # Python renames a file when it keeps the compiled form of a module of konfig.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    SEEN.clear()
    for allow in ALLOWS:
        WATCHING.append(True)
        try:
            with pytest.raises(konfig.KonfigError):
                cfg = konfig.from_json(json.dumps(data))
                konfig.validate(cfg)
                repr(cfg)
                cfg.get("x")
                konfig.fingerprint(cfg)
                konfig.diff(cfg, konfig.ConfigDict())
                konfig.resolve(cfg, allow=allow)
        finally:
            WATCHING.clear()
    assert not SEEN
    assert not list(tmp_path.iterdir())
    assert "antigravity" not in sys.modules


def test_a_key_that_is_no_name_is_refused_by_all_who_read_calls():
    items = [["__qualname__", "types:SimpleNamespace"], [3, 1], [{"__tuple__": []}, 2]]
    cfg = konfig.from_json({"__items__": items}, trusted=True)
    with pytest.raises(konfig.ConfigValueError, match="no name of an argument"):
        konfig.resolve(cfg)
    assert [problem.kind for problem in konfig.validate(cfg)] == ["structure"]
    assert konfig.canonicalize(cfg) == cfg
    assert "types.SimpleNamespace" in konfig.to_python(konfig.ConfigDict(m=cfg))
    assert konfig.same(konfig.from_json(konfig.to_json(cfg)), cfg)
    assert "SimpleNamespace" in cfg._repr_html_()


def test_no_override_of_data_runs_anything(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cfg = konfig.ConfigDict(a=1)
    for text in ("a=py::os.system('true')", "a=json::" + json.dumps(HOSTILE[0])):
        konfig.apply_overrides(cfg, [text])
        assert cfg.a["__qualname__"] == "os:system"
    for text in (
        "a=py::(lambda: 1)()",
        "a=py::[x for x in (1,)]",
        "a=py::f'{1}'",
        "a=ref::__import__('os')",
        "a=ref::a.upper()",
        "a=py::a.b(*[1])",
    ):
        with pytest.raises(konfig.OverrideError):
            konfig.apply_overrides(cfg, [text])


def in_itself():
    cfg = konfig.ConfigDict(a=[1])
    cfg.a.append((cfg.a,))
    return cfg


def far_down():
    cfg = konfig.ConfigDict(a=1)
    for _ in range(2000):
        cfg = konfig.ConfigDict(a=konfig.ConfigList([cfg]))
    return cfg


@pytest.mark.parametrize("make", [in_itself, far_down])
@pytest.mark.parametrize(
    "read",
    [
        konfig.to_json,
        konfig.resolve,
        konfig.fingerprint,
        konfig.flatten,
        lambda cfg: konfig.to_json(cfg, lossless=False),
        lambda cfg: konfig.to_json(cfg, refs="resolve"),
        lambda cfg: cfg.to_dict(),
        lambda cfg: konfig.diff(cfg, konfig.deepcopy(cfg)),
        lambda cfg: cfg == konfig.deepcopy(cfg),
    ],
)
def test_what_has_no_end_is_refused_in_one_screen(make, read):
    with pytest.raises(konfig.ConfigCycleError) as error:
        read(make())
    assert len(str(error.value)) < 300
    assert ("cfg.a[1][0] → cfg.a" in str(error.value)) == (make is in_itself)

"""What no other tool looks at: ranges between siblings, changelogs, lock, names, rows.

python .ci/check_repo.py
"""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parents[1]
PACKAGES = ("konfig", "kontext", "ktyping", "kmetrics", "ktrain")
FORBIDDEN_NAMES = {"utils", "util", "common", "helpers", "helper", "misc", "lib"}
SUPPRESSION = re.compile(r"#\s*(?:pyrefly|type|pyright|mypy):\s*ignore")
MAX_SUPPRESSIONS = 20
MAX_LINES = 400
INDEX = "https://pypi.org/simple"
# In quotes, after a space or at a line's start: not part of a longer path or address.
MACHINE_PATH = re.compile(r"(?<![\w./~$}])/(?:home|root|work|Users|mnt|opt)/\w")
ROW = re.compile(r"^\| ((?:konfig|kontext|ktyping|kmetrics|core|io)-\d+) \|", re.M)
MARK = re.compile(r"mark\.(spec|case)\(([^)]*)\)")


def main() -> None:
    checks = (
        siblings,
        changelogs,
        lock,
        module_names,
        suppressions,
        lengths,
        paths,
        rows,
    )
    problems = [problem for check in checks for problem in check()]
    for problem in problems:
        print(f"check_repo: {problem}")
    if problems:
        sys.exit(1)
    print(
        "check_repo: siblings, changelogs, lock, names, lengths, paths and rows: fine"
    )


def project(name: str) -> dict:
    text = (ROOT / "packages" / name / "pyproject.toml").read_text()
    return tomllib.loads(text)["project"]


def version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def siblings() -> Iterator[str]:
    versions = {project(name)["name"]: project(name)["version"] for name in PACKAGES}
    for name in PACKAGES:
        for requirement in project(name).get("dependencies", ()):
            if not requirement.startswith("kd-"):
                continue
            match = re.fullmatch(r"(kd-\w+)>=([\d.]+),<([\d.]+)", requirement)
            if match is None:
                yield f"{name}: write {requirement!r} as kd-NAME>=FLOOR,<CEILING"
                continue
            sibling, floor, ceiling = match.groups()
            present = version(versions[sibling])
            if not version(floor) <= present < version(ceiling):
                yield f"{name}: {requirement} leaves out {sibling} {versions[sibling]}"


def changelogs() -> Iterator[str]:
    for name in PACKAGES:
        text = (ROOT / "packages" / name / "CHANGELOG.md").read_text()
        if "## Unreleased" not in text:
            yield f"{name}: CHANGELOG.md has no section 'Unreleased'"
        section = re.search(
            rf"^## {re.escape(project(name)['version'])}\b.*?(?=^## |\Z)",
            text,
            re.M | re.S,
        )
        if section is None or "- " not in section.group():
            yield f"{name}: CHANGELOG.md tells nothing of {project(name)['version']}"


def lock() -> Iterator[str]:
    text = (ROOT / "uv.lock").read_text()
    others = set(re.findall(r'registry = "([^"]*)"', text)) - {INDEX}
    if others:
        yield f"uv.lock names an index other than the public one: {sorted(others)}"
    if re.search(r'(?:path|directory) = "|file://', text):
        yield "uv.lock holds a path of a machine"


def tracked(*patterns: str) -> list[pathlib.Path]:
    done = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [ROOT / line for line in done.stdout.splitlines() if (ROOT / line).is_file()]


def module_names() -> Iterator[str]:
    for path in tracked("packages/*/src/*"):
        for part in path.relative_to(ROOT).with_suffix("").parts:
            if part.strip("_") in FORBIDDEN_NAMES:
                yield f"{path.relative_to(ROOT)}: {part!r} says nothing of its subject"


def suppressions() -> Iterator[str]:
    lines = [
        line
        for path in tracked("*.py")
        if path != pathlib.Path(__file__).resolve()
        for line in path.read_text().splitlines()
        if SUPPRESSION.search(line)
    ]
    if len(lines) > MAX_SUPPRESSIONS:
        yield f"{len(lines)} suppressions of types, {MAX_SUPPRESSIONS} allowed"


def lengths() -> Iterator[str]:
    for path in tracked("*.py"):
        count = path.read_text().count("\n")
        if count > MAX_LINES:
            yield f"{path.relative_to(ROOT)} has {count} lines, {MAX_LINES} allowed"


def paths() -> Iterator[str]:
    for path in tracked("*.py", "*.md", "*.toml", ".ci/*"):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if MACHINE_PATH.search(line) and "MACHINE_PATH" not in line:
                yield f"{path.relative_to(ROOT)}:{number} holds a path of a machine"


def rows() -> Iterator[str]:
    known: dict[str, pathlib.Path] = {}
    for page in sorted((ROOT / "docs" / "spec").glob("*.md")):
        built = re.split(r"^## Not as specified", page.read_text(), flags=re.M)[0]
        for row in ROW.findall(built):
            if row in known:
                yield f"docs/spec/{page.name}: {row} stands in {known[row].name} too"
            known[row] = page
    marked: set[str] = set()
    for path in tracked("packages/*/tests/*", "examples/*"):
        if path.suffix == ".py":
            for kind, ids in MARK.findall(path.read_text()):
                if kind == "spec":
                    marked |= set(re.findall(r"[\"']([\w-]+)[\"']", ids))
    for row in sorted(set(known) - marked):
        yield f"docs/spec/{known[row].name}: no test shows {row}"
    for row in sorted(marked - set(known)):
        yield f"a test is marked with {row}, which no page of docs/spec holds"


if __name__ == "__main__":
    main()

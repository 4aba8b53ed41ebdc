"""The rooms of web/src: their arrows go one way, nothing goes in a circle, folders stay small."""

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tests.test_architecture import circles

SOURCE = Path(__file__).parent.parent / "web" / "src"
# A test stands next to what it tests and may use anything; the types of the API are generated.
FILES = sorted(
    file
    for file in SOURCE.rglob("*")
    if file.suffix in {".ts", ".tsx", ".css"}
    and ".test." not in file.name
    and file != SOURCE / "api" / "schema.d.ts"
)
SCRIPTS = [file for file in FILES if file.suffix != ".css"]

# What each room may import besides itself. A room that is not listed here does not exist.
ARROWS: dict[str, set[str]] = {
    "format": set(),
    "api": {"format"},
    "ui": {"api", "format"},
    "live": {"ui", "format"},
    "charts": {"ui", "api", "format"},
    "features": {"charts", "live", "ui", "api", "format"},
    "app": {"features", "charts", "live", "ui", "api", "format"},
    # The script of shared links is loaded by strangers: it is small and needs no React.
    "shared-page": {"live", "format"},
    # The checker of records is a page of its own, which strangers save: nothing of ours beside it.
    "checker": set(),
    "testing": set(),
}
# What one feature may use of the others; the list is in the order of the arrows.
FEATURES: dict[str, set[str]] = {
    "notifications": set(),
    "account": {"notifications"},
    "project": set(),
    "halting": set(),
    "health": {"halting"},
    "watching": set(),
    "logs": set(),
    "changes": set(),
    "orders": {"changes"},
    "events": set(),
    "prices": {"orders"},
    "sharing": {"project"},
    "model": {"sharing"},
    "versions": {"model"},
    "deploy": {"logs", "model"},
    "models": {"halting", "model"},
    "backtests": {"logs", "model", "prices", "project", "sharing"},
    "portfolio": {"backtests", "halting", "watching"},
    "trades": {"backtests"},
    "overview": {
        "backtests",
        "changes",
        "events",
        "logs",
        "model",
        "orders",
        "project",
        "watching",
    },
}
IMPORT = re.compile(r"""(?:\bfrom\s+|\bimport\s+|\bimport\(\s*)["']([.~][^"']*)["']""")
LONGEST, MOST_TOGETHER, DEEPEST = 400, 15, 3


@cache
def imports_of(file: Path) -> tuple[Path, ...]:
    """The files of ours that a file imports, now or later."""
    return tuple(found(file, name) for name in IMPORT.findall(file.read_text("utf-8")))


def found(file: Path, name: str) -> Path:
    start = SOURCE if name.startswith("~/") else file.parent
    path = name.removeprefix("~/").partition("?")[0]  # how it is bundled follows
    target = (start / path).resolve()
    kinds = ("", ".ts", ".tsx", ".d.ts")
    exact = [one for one in (Path(f"{target}{kind}") for kind in kinds) if one.is_file()]
    assert exact, f"{file}: there is no {name}"
    return exact[0]


def place(file: Path) -> tuple[str, ...]:
    return file.relative_to(SOURCE).parts


def dotted(file: Path) -> str:
    return "/".join(("src", *place(file))).replace(".", "_").replace("/", ".")


@pytest.mark.parametrize("file", SCRIPTS, ids=lambda file: str(file.relative_to(SOURCE)))
def test_arrows_go_one_way(file: Path) -> None:
    room, *inner = place(file)
    assert room in ARROWS, f"a new room: say in ARROWS what {room} may import"
    used = [place(one) for one in imports_of(file)]
    strangers = {one[0] for one in used} - ARROWS[room] - {room}
    assert not strangers, f"{room} must not import {', '.join(sorted(strangers))}"
    if room == "features":
        feature = inner[0]
        assert feature in FEATURES, f"a new feature: say in FEATURES what {feature} may import"
        others = {one[1] for one in used if one[0] == room} - FEATURES[feature] - {feature}
        assert not others, f"{feature} must not import {', '.join(sorted(others))}"


@pytest.mark.parametrize("arrows", [ARROWS, FEATURES], ids=["rooms", "features"])
def test_no_arrow_can_go_in_a_circle(arrows: dict[str, set[str]]) -> None:
    settled: set[str] = set()
    for one, used in sorted(arrows.items(), key=lambda item: len(item[1])):
        assert used <= set(arrows), f"{one} names a room that does not exist"
    while remaining := set(arrows) - settled:
        free = {one for one in remaining if arrows[one] <= settled}
        assert free, f"these import each other: {sorted(remaining)}"
        settled |= free


def test_nothing_goes_in_a_circle() -> None:
    """No files or folders that lie side by side import each other, however indirectly."""
    arrows = {(dotted(file), dotted(one)) for file in SCRIPTS for one in imports_of(file)}
    assert len(arrows) > len(SCRIPTS), "the imports are not read any more"
    assert not circles(arrows)


def test_a_folder_is_neither_crowded_nor_deep() -> None:
    assert not [file for file in FILES if file.parent == SOURCE], "a file belongs to a room"
    for folder, count in Counter(file.parent for file in FILES).items():
        assert count <= MOST_TOGETHER, f"{folder} has {count} files: make parts of it"
        assert len(folder.relative_to(SOURCE).parts) <= DEEPEST, folder


@pytest.mark.parametrize("file", SCRIPTS, ids=lambda file: str(file.relative_to(SOURCE)))
def test_a_file_is_small_and_says_why_it_exists(file: Path) -> None:
    text = file.read_text("utf-8")
    assert len(text.splitlines()) <= LONGEST
    assert "/**" in text, "a file says why it exists"

"""Documentation that can lie is generated or tested."""

import re
from pathlib import Path

import pytest

from tapeline.settings import ROWS
from tests import documents

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *documents.DOCS.rglob("*.md")])
EVERYTHING = "\n".join(page.read_text("utf-8") for page in PAGES)


@pytest.mark.parametrize("document", PAGES, ids=lambda path: path.name)
def test_what_the_code_knows_better_is_as_the_code_has_it(document: Path) -> None:
    text = document.read_text("utf-8")
    assert documents.filled(text) == text, "stale: run .venv/bin/python -m tests.documents"


@pytest.mark.parametrize("block", documents.BLOCKS)
def test_every_setting_command_route_and_error_is_documented(block: str) -> None:
    assert f"<!-- from the code: {block} -->" in EVERYTHING
    for line in documents.BLOCKS[block]():
        assert line in EVERYTHING


def test_every_setting_has_a_sentence() -> None:
    for row in ROWS.values():
        assert row.metadata["help"].endswith(".")


@pytest.mark.parametrize("document", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", document.read_text("utf-8")):
        if "://" not in target:
            assert (document.parent / target).exists(), target


def test_the_readme_names_every_page_of_the_docs_and_both_commands() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert "make run" in readme
    assert "make test" in readme
    for page in documents.DOCS.glob("*.md"):
        assert f"(docs/{page.name})" in readme, page.name


def test_every_make_target_is_listed_for_contributors() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    contributing = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    for target in re.findall(r"^([a-z]+):.*##", makefile, re.MULTILINE):
        assert f"make {target}" in contributing, target


def test_the_architecture_names_every_room() -> None:
    page = (documents.DOCS / "architecture.md").read_text("utf-8")
    for room in (ROOT / "src" / "tapeline").iterdir():
        if not room.name.startswith("__"):
            assert room.name in page, room.name
    for folder in ("client", "runtime", "examples", "tests", "bench"):
        assert f"\n{folder}/ " in page, folder

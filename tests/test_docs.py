"""Documentation that can lie is generated or tested."""

import re
from pathlib import Path

import pytest

from tapeline.cli import rows as table
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


def commands_in(document: Path) -> list[list[str]]:
    """Every call of the command in a page's code, as words."""
    blocks = re.findall(r"```(?:console|sh|bash)\n(.*?)```", document.read_text("utf-8"), re.DOTALL)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    at = re.compile(r"(?:^(?:\$ )?(?:[A-Z_]+=\S+ )*|/bin/)tapeline ([a-z].*)")
    calls = [at.search(line) for line in lines]
    return [re.split(r"[|<>]|&&| # ", call[1])[0].split() for call in calls if call]


@pytest.mark.parametrize("document", PAGES, ids=lambda path: path.name)
def test_commands_of_a_page_are_commands_with_these_options(document: Path) -> None:
    rows = {row.name: row for row in table.ROWS}
    rows |= {group: rows[f"{group} {word}"] for group, word in table.USUAL.items()}
    for words in commands_in(document):
        name = " ".join(words[:2]) if " ".join(words[:2]) in rows else words[0]
        assert name in rows, f"tapeline {' '.join(words)}"
        known = {
            flag for one in rows[name].load().params for flag in (*one.opts, *one.secondary_opts)
        }
        used = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
        assert used <= known | {"--help", "--debug"}, f"tapeline {' '.join(words)}"


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


def test_the_architecture_names_every_room_and_its_folders() -> None:
    page = (documents.DOCS / "architecture.md").read_text("utf-8")
    for room in (ROOT / "src" / "tapeline").iterdir():
        if not room.name.startswith("__"):
            assert room.name in page, room.name
    for folder in (ROOT / "src" / "tapeline").glob("*/*/__init__.py"):
        assert f"    {folder.parent.name}/" in page or f" {folder.parent.name}/ " in page, folder
    for folder in (one for one in (ROOT / "web" / "src").iterdir() if one.is_dir()):
        assert folder.name in page, folder
    for name in ("client", "runtime", "examples", "tests", "bench"):
        assert f"\n{name}/ " in page, name


REQUIRED_TERMS = {
    "tape", "page", "channel", "fold", "seal", "checkpoint", "fence", "shim", "run", "attempt",
    "journal", "book", "entry", "link",
}  # fmt: skip
TERM = re.compile(r"^\| \*\*(.+?)\*\* \| (.+?) \| `(.+?)` \|$", re.MULTILINE)
GLOSSARY = (documents.DOCS / "glossary.md").read_text("utf-8")
SOURCES = [*documents.DOCS.rglob("*.md"), *(ROOT / "src" / "tapeline").rglob("*.py")]


def test_the_glossary_defines_every_term_once() -> None:
    terms = [term for term, _, _ in TERM.findall(GLOSSARY)]
    assert len(terms) == GLOSSARY.count("| **"), "a row that is not: term | meaning | `path`"
    assert len(terms) == len(set(terms))
    assert set(terms) >= REQUIRED_TERMS


def test_every_term_of_the_glossary_is_used_elsewhere() -> None:
    texts = [one.read_text("utf-8") for one in SOURCES if one.name != "glossary.md"]
    text = "\n".join(texts).lower()
    for term, _, _ in TERM.findall(GLOSSARY):
        assert re.search(rf"\b{term}s?\b", text), term


@pytest.mark.parametrize("name", ["docs/glossary.md", "docs/architecture.md", "CONTRIBUTING.md"])
def test_every_path_that_explains_the_code_exists(name: str) -> None:
    """Of single words only files count: `settings.py` is a path, `http` is a room."""
    lines = (ROOT / name).read_text("utf-8").splitlines()
    text = "\n".join(line for line in lines if "(planned:" not in line)
    paths = re.findall(r"`([a-z_]+(?:/[\w.-]*)+|\w+\.(?:py|md))`", text)
    assert paths
    for path in paths:
        there = ROOT / "src" / "tapeline" / path, ROOT / path
        assert any(one.exists() for one in there), path

"""Our reading of requirements and uv's are one: what uv would make of a file is what it is given.

Drawn files are full of what readers have disagreed about: comments before a continued line, every
character that ends a line for somebody, quotes, includes, options, marks at the start.
"""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from tapeline.errors import InvalidRequirements
from tapeline.runs.environments import requirements
from tapeline.runs.environments.cache import Wanted
from tapeline.runs.environments.install_boxes import uv_program
from tapeline.runs.environments.interpreters import Found
from tapeline.runs.environments.requirements import Requirements
from tests.examples import some
from tests.runs.environments.index import PackageIndex, builder, serve_packages
from tests.runs.environments.package_bench import Bench
from tests.waiting import A_PROGRAM

URL = "http://127.0.0.1:9/simple"
LINES = [
    "apple", "Basket", "cherry", "apple==1.0", "basket>=1,<2", "cherry (!=2.0)", "", "# why",
    "apple ; python_version > '3'", 'basket;sys_platform=="win32"', "cherry[x]", "./pkg", "pkg/",
    "-e ./pkg", "-e pkg", "homemade @ ./pkg", "-r more.txt", "--requirement=more.txt",
    "-r 'more.txt'", "-c more.txt", "--constraint more.txt", "--only-binary :all:", "-f wheels",
    "--find-links=./wheels", "--prefer-binary",
]  # fmt: skip
ODD = [
    "no-such", "==1.0", "<2", "#", "\\", "'", '"', ";", "@", "=", "$", "${HOME}", "[", "-", "pkg",
    "--no-index", f"--extra-index-url {URL}", f"-i {URL}", "cherry-1.0-py3-none-any.whl",
    f"cherry @ {URL}/cherry-1.0-py3-none-any.whl", "\0", "\x0b", "\u00a0", "\u2028", "\ufeff",
]  # fmt: skip
ENDS = [
    "\n",
    "\n",
    "\r",
    "\r\n",
    " # x\n",
    " # x \\\n",
    " #\\\r\n",
    " \\\n",
    "\\\n",
    "\t \n",
    "#\n",
]
RARE_ENDS = ["", " ", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029", "\\ \n"]
# Mostly what means something, or both would refuse all of it.
seldom = st.integers(0, 19).map(lambda number: number == 0)
lines = seldom.flatmap(lambda odd: st.sampled_from(ODD if odd else LINES))
ends = seldom.flatmap(lambda odd: st.sampled_from(RARE_ENDS if odd else ENDS))
contents = st.lists(st.tuples(lines, ends).map("".join), max_size=5).map("".join)


@dataclass
class Shop:
    """A model's folder beside an index whose answers uv has already."""

    model: Path
    environ: dict[str, str]

    def write(self, text: str, more: str) -> Path:
        file = self.model / "requirements.txt"
        file.write_bytes(text.encode())
        (self.model / "more.txt").write_bytes(more.encode())
        return file

    def resolve(self, *arguments: str) -> str | None:
        """What uv makes of it; None when it refuses."""
        fixed = ["pip", "compile", "--quiet", "--no-header", "--no-annotate", "--offline"]
        done = subprocess.run(
            [uv_program(), *fixed, *arguments],
            env=self.environ,
            cwd=self.model,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=A_PROGRAM,
            check=False,
        )
        return done.stdout.decode() if done.returncode == 0 else None

    def resolve_as_we_do(self, read: Requirements) -> str | None:
        """With the arguments of install.py and nothing of the model's own text."""
        ours, limits = self.model.parent / "ours.txt", self.model.parent / "limits.txt"
        ours.write_text(read.text)
        limits.write_text(read.limits)
        options = [part for one in read.options for part in one.split(" ", 1)]
        return self.resolve(str(ours), "--constraints", str(limits), *options)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory, found: Found) -> Iterator[Shop]:
    folder = tmp_path_factory.mktemp("shop")
    (folder / "model/wheels").mkdir(parents=True)
    (folder / "model/pkg").mkdir()
    for name, text in builder("").items():
        (folder / "model/pkg" / name).write_text(text)
    with serve_packages(folder / "index") as index:
        for name in ("apple", "basket", "cherry"):
            for version in ("1.0", "2.0"):
                index.add_wheel(name, version, {f"{name}.py": ""})
        environ = {
            "HOME": str(folder),
            "UV_CACHE_DIR": str(folder / "cache"),
            "UV_NO_CONFIG": "1",
            "UV_PYTHON": found.interpreters[0].path,
            "UV_DEFAULT_INDEX": index.url,
        }
        shop = Shop(folder / "model", environ)
        _warm(shop, index)
        yield shop


def _warm(shop: Shop, index: PackageIndex) -> None:
    for version in ("1.0", "2.0"):
        lines = "".join(f"{name}=={version}\n" for name in ("apple", "basket", "cherry"))
        file = shop.write(lines + "./pkg\n", "")
        subprocess.run(
            [uv_program(), "pip", "compile", "--quiet", str(file)],
            env=shop.environ,
            cwd=shop.model,
            stdout=subprocess.DEVNULL,
            check=True,
        )
    assert shop.resolve(str(file)) is not None, "nothing can be compared without the index"


@settings(max_examples=some(120), deadline=None, suppress_health_check=list(HealthCheck))
@given(text=contents, more=contents)
@example("apple # x \\\nbasket\n", "")
@example("--prefer-binary # x \\\nbasket==1.0\n", "")
@example("-c more.txt # x \\\n-r more.txt", "basket<2 # \\\ncherry")
@example("\ufeffapple\rbasket\r\ncherry", "")
@example("-r more.txt\n./pkg", "-e ./pkg\n-f wheels")
@example("--prefer-binary \\\napple", "")
@example("-c more.txt\napple", "--no-index")
@example("apple \\\n# comment\nbasket", "")
def test_uv_makes_the_same_of_a_file_as_of_what_we_wrote(shop: Shop, text: str, more: str) -> None:
    file = shop.write(text, more)
    try:
        read = requirements.read(file, shop.model)
    except InvalidRequirements:
        return  # nothing reaches uv
    theirs = shop.resolve(str(file))
    if theirs is not None:
        assert _meaning(shop.resolve_as_we_do(read)) == _meaning(theirs)


def _meaning(pins: str | None) -> list[str] | None:
    """Which way a path is spelled means nothing."""
    if pins is None:
        return None
    return sorted({one.replace("./", "").rstrip("/") for one in pins.splitlines() if one})


def test_most_of_what_uv_understands_is_understood(shop: Shop) -> None:
    for token in LINES:
        assert shop.resolve(str(shop.write(token, "apple"))) is not None
        assert requirements.read(shop.model / "requirements.txt", shop.model)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, found: Found) -> Bench:
    return Bench(tmp_path_factory.mktemp("made"), URL, found.interpreters[0])


def _asked(made: Bench, text: str, more: str) -> tuple[Wanted, dict[str, bytes]]:
    """The request, and every byte of it that uv will see."""
    (made.model / "more.txt").write_bytes(more.encode())
    wanted = made.wanted(text)
    made.made.steps(wanted, "x-install")
    staging = made.folder / "builds/x-install/x-install"
    return wanted, {one.name: one.read_bytes() for one in staging.iterdir()}


@settings(max_examples=some(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(one=contents, other=contents, more=contents)
@example(
    f"--extra-index-url {URL} # x \\\ncherry @ {URL}/c.whl\n", f"--extra-index-url {URL}\n", ""
)
@example(f"apple\n-f wheels # \\\ncherry @ {URL}/c.whl\n", "apple\n-f wheels\n", "")
@example("apple\x0bbasket", "apple\nbasket", "")
@example("apple==1.0 # x \\\n--pre", "apple==1.0", "")
def test_two_files_with_one_request_give_uv_the_same_bytes(
    made: Bench, one: str, other: str, more: str
) -> None:
    try:
        (first, reads), (second, reads_too) = (_asked(made, text, more) for text in (one, other))
    except InvalidRequirements:
        assume(False)
    if first.request == second.request:
        assert reads == reads_too
    else:
        assert first.requirements != second.requirements


@settings(max_examples=some(150), deadline=None)
@given(text=contents)
def test_what_we_wrote_is_read_as_it_was_meant(text: str) -> None:
    try:
        read = requirements.parse(text)
    except InvalidRequirements:
        assume(False)
    lock = "".join(f"{one}\n" for one in read.options) + read.text
    assert requirements.parse(lock) == read
    assert read.text.isascii()
    assert len(read.text.splitlines()) == len(read.lines)

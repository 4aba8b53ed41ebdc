"""Packages that nobody maintains any more: what is installed in their place, or with them."""

from pathlib import Path

import pytest

from tapeline.runs.environments import substitutes
from tapeline.runs.environments.interpreters import Found
from tests import needs
from tests.runs.environments.index import PackageIndex
from tests.runs.environments.package_bench import Bench, imports
from tests.runs.sandbox.boxes import install


@pytest.fixture
def bounded(bench: Bench, index: PackageIndex) -> Bench:
    """`old` was made for `arrays` 1, and does not say so."""
    for version in ("1.5", "2.0"):
        index.add_wheel("arrays", version, {"arrays.py": ""})
    index.add_wheel("old", "1.0", {"old.py": ""}, requires="arrays")
    bench.open(index.url, bounds={"old": "arrays<2"})
    return bench


def test_a_package_gets_what_it_needs_and_does_not_name(bounded: Bench) -> None:
    found, _ = bounded.install("old\n")
    assert "arrays==1.5" in found.lock


def test_others_get_the_newest(bounded: Bench) -> None:
    found, _ = bounded.install("arrays\n")
    assert "arrays==2.0" in found.lock


def test_whoever_asks_for_the_newest_gets_it_and_is_told(bounded: Bench) -> None:
    found, said = install(bounded.made, bounded.wanted("old\narrays>=2\n"))
    assert found is not None
    assert "arrays==2.0" in found.lock
    assert "may not work together: some need arrays<2." in said


@pytest.mark.slow
@pytest.mark.parametrize("version", ["3.8", "3.10", "3.11", "3.13"])
def test_the_older_platforms_package_is_installed_and_imported_on_any_machine(
    tmp_path: Path, found: Found, version: str
) -> None:
    interpreter = found.get(version)
    if interpreter is None:
        needs.missing(f"this machine has no Python {version}")
    bench = Bench(tmp_path, "", interpreter)
    bench.open("", substitutes.by_package(), substitutes.bounds())
    environment, wanted = bench.install("blankly\n")
    assert imports(environment, wanted, "blankly, tulipy").output.strip() == ""

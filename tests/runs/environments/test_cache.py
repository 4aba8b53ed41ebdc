"""Environments are found again, made anew where nobody can be harmed, and bounded."""

import hashlib
import os
import re
import shutil
import time
from pathlib import Path

import msgspec
import pytest

from tapeline.runs.environments.cache import Environments
from tapeline.runs.environments.install_boxes import Installer
from tapeline.runs.environments.interpreters import Found, Interpreter
from tests import needs
from tests.runs.environments.index import PackageIndex, builder
from tests.runs.environments.package_bench import RUNTIME, Bench, imports
from tests.runs.sandbox.boxes import Done, install, run_box, run_inside

# Making and finding


def test_what_was_installed_is_found_again_at_once(bench: Bench) -> None:
    wanted = bench.wanted("basket\n")
    assert bench.made.find(wanted) is None
    environment, _ = bench.install("basket\n")
    assert bench.made.find(wanted) == environment
    assert imports(environment, wanted, "basket").code == 0
    assert environment.lock.splitlines()[0].startswith("apple==1.0")
    assert list((bench.folder / "shared").iterdir()) != []
    assert not (bench.folder / "shared/run-install").exists()
    assert list((bench.folder / "builds").iterdir()) == []


def test_the_person_who_deploys_is_told_what_happens(bench: Bench) -> None:
    _, output = install(bench.made, bench.wanted("basket\n"))
    version = bench.python.version
    assert output.splitlines() == [
        f"Resolving 1 requirement for Python {version}",
        "Installing basket 2.0 (2 packages)",
        "Installed.",
    ]


def test_no_requirements_are_an_environment_too(bench: Bench) -> None:
    environment, wanted = bench.install(None)
    assert environment.lock == ""
    assert bench.made.find(bench.wanted(None)) == environment
    assert bench.made.find(bench.wanted("# none yet\n")) == environment
    assert imports(environment, wanted, "sys").code == 0
    assert imports(environment, wanted, "apple").code == 1


@pytest.mark.heavy
def test_requirements_mean_the_same_for_a_day_and_a_lock_for_ever(
    bench: Bench, index: PackageIndex
) -> None:
    old, wanted = bench.install("apple\n")
    index.add_wheel("apple", "1.1", {"apple/__init__.py": ""})
    bench.passed += 23 * 3600
    assert bench.made.find(wanted) == old
    bench.passed += 2 * 3600
    assert bench.made.find(wanted) is None
    new, _ = bench.install("apple>=1\n")
    assert "apple==1.1" in new.lock
    assert bench.made.find(bench.wanted("apple\n", old.lock)) == old
    os.utime(bench.folder / f"made/{old.key}.json", (0, 0))
    bench.made.clean({new.key}, 0)
    assert bench.made.find(bench.wanted("apple\n", old.lock)) is None
    again, _ = bench.install("apple\n", old.lock)
    assert again == old


def test_a_lock_whose_packages_are_here_is_installed_without_the_index(bench: Bench) -> None:
    old, _ = bench.install("basket\n")
    record = bench.folder / f"made/{old.key}.json"
    record.unlink()
    again, output = install(bench.made, bench.wanted("basket\n", old.lock), offline=True)
    assert again == old, output
    assert "Resolving" not in output


def test_the_same_lock_is_not_installed_twice(bench: Bench) -> None:
    old, _ = bench.install("apple\n")
    new, output = install(bench.made, bench.wanted("apple==1.0\n"))
    assert "Everything is installed already." in output
    assert new == old


@pytest.mark.heavy
def test_two_installations_of_one_request_are_harmless(bench: Bench) -> None:
    wanted = bench.wanted("apple\n")
    for name in ("a-install", "b-install"):
        assert run_box(bench.made.steps(wanted, name)[0]).code == 0
    first = bench.made.accept(wanted, "a-install")
    assert bench.made.accept(wanted, "b-install") == first
    assert len(list((bench.folder / "made").glob("*.json"))) == 1


def test_constraints_and_included_files_count(bench: Bench, index: PackageIndex) -> None:
    index.add_wheel("apple", "3.0", {"apple/__init__.py": ""})
    (bench.model / "more.txt").write_text("basket\n-c limits.txt\n")
    (bench.model / "limits.txt").write_text("apple<2\n")
    environment, wanted = bench.install("-r more.txt\n")
    assert "apple==1.0" in environment.lock
    (bench.model / "limits.txt").write_text("apple<9\n")
    assert bench.wanted("-r more.txt\n").request != wanted.request


# What the environment is like


def test_a_model_can_run_but_not_change_its_environment(bench: Bench) -> None:
    environment, wanted = bench.install("apple\n")
    site = "import apple; open(apple.__file__, 'a')"
    done = run_inside(environment, wanted, environment.python, "-c", site)
    assert "Read-only file system" in done.output
    assert not [
        file for file in Path(environment.path).rglob("*")
        if not file.is_symlink() and not file.stat().st_mode & 0o004
    ]  # fmt: skip


def test_scripts_and_prefix_are_right_where_the_model_runs(
    bench: Bench, index: PackageIndex
) -> None:
    entry = {
        "pear.py": "import sys\ndef main():\n    print(sys.prefix)\n",
        "pear-1.0.dist-info/entry_points.txt": "[console_scripts]\npear = pear:main\n",
    }
    index.add_wheel("pear", "1.0", entry)
    environment, wanted = bench.install("pear\n")
    done = run_inside(environment, wanted, f"{environment.inside}/bin/pear")
    assert done.output.strip() == environment.inside


@pytest.mark.heavy
def test_bytecode_is_written_once_and_valid_where_it_is_read_only(bench: Bench) -> None:
    for text in ("apple\n", "basket\n"):
        environment, wanted = bench.install(text)
        code = "import apple.core; print(apple.core.__spec__.cached)"
        done = run_inside(environment, wanted, environment.python, "-v", "-c", code)
        for module in ("__init__", "core"):
            assert f"{environment.inside}/lib/python" in done.output
            loaded = [
                one for one in done.output.splitlines() if f"apple/__pycache__/{module}" in one
            ]
            assert any("matches" in one or "code object from" in one for one in loaded), loaded
        assert "wrote" not in done.output
        assert "could not" not in done.output
        where = (
            "import apple.core as a, types; print(a.__loader__.get_code('apple.core').co_filename)"
        )
        done = run_inside(environment, wanted, environment.python, "-c", where)
        assert done.output.strip().startswith(environment.inside)


@pytest.mark.heavy
@pytest.mark.parametrize("text", ["basket\n", "homemade\nbasket\n"])
def test_bytecode_can_be_left_for_later_and_is_then_the_same(bench: Bench, text: str) -> None:
    wanted = bench.wanted(text)
    for step in bench.made.steps(wanted, "x-install", bytecode=False):
        done = run_box(step)
        if done.code == 0:
            break
    environment = bench.made.accept(wanted, "x-install")
    folder = Path(environment.path)
    assert not list(folder.rglob("apple/__pycache__/*.pyc"))
    for _ in range(2):
        assert run_box(bench.made.bytecode_step(wanted, environment)) == Done(0, "")
        assert len(list(folder.rglob("apple/__pycache__/*.pyc"))) == 2
    code = "import basket"
    done = run_inside(environment, wanted, environment.python, "-v", "-c", code)
    assert f"code object from '{environment.inside}" in done.output
    assert f"code object from {environment.inside}" not in done.output


@pytest.mark.heavy
def test_environments_share_files_with_the_cache_and_built_ones_with_nobody(
    bench: Bench,
) -> None:
    shared, _ = bench.install("apple\n")
    [file] = Path(shared.path).glob("lib/python*/site-packages/apple/core.py")
    assert file.stat().st_nlink >= 2
    built, wanted = bench.install("homemade\napple\n")
    [file] = Path(built.path).glob("lib/python*/site-packages/apple/core.py")
    assert file.stat().st_nlink == 1
    assert imports(built, wanted, "homemade, apple").code == 0


# What goes wrong


def test_hashes_that_were_asked_for_are_the_only_ones_installed(
    bench: Bench, index: PackageIndex
) -> None:
    """uv resolves to what the index has, whatever hashes the requirements give."""
    environment, _ = bench.install("basket\n")
    right = re.findall(r"--hash=sha256:\w+", environment.lock)
    pinned, _ = bench.install(f"basket {right[1]} --hash=sha256:{'0' * 64}\napple\n")
    assert re.findall(r"--hash=sha256:\w+", pinned.lock) == right
    output = bench.fail(f"apple==1.0 --hash=sha256:{'0' * 64}\n")
    assert "No file of apple==1.0 has a hash that the requirements allow." in output
    output = bench.fail(f"--require-hashes\nbasket {right[1]}\n")
    assert "--require-hashes, but give none of apple" in output
    bench.install(f"--require-hashes\nbasket {right[1]}\napple {right[0]}\n")


def test_prereleases_are_taken_when_they_are_asked_for(bench: Bench, index: PackageIndex) -> None:
    index.add_wheel("apple", "9.0rc1", {"apple/__init__.py": ""})
    assert "apple==1.0" in bench.install("apple\n")[0].lock
    assert "apple==9.0rc1" in bench.install("--pre\napple\n")[0].lock


@pytest.mark.heavy
def test_what_does_not_exist_or_does_not_fit_is_told_apart_from_an_index_out_of_reach(
    bench: Bench,
) -> None:
    output = bench.fail("no-such-fruit\n")
    cannot = f"The requirements cannot be met on Python {bench.python.version}"
    said = f"{cannot}: no-such-fruit was not found in the package registry."
    assert output.splitlines()[-1] == said
    output = bench.fail("apple<1\nbasket\n")
    assert (
        output.splitlines()[-1]
        == f"{cannot}: only apple==1.0 is available and you require apple<1."
    )


@pytest.mark.heavy
def test_an_index_out_of_reach_is_said_so_and_what_was_resolved_before_is_used(
    bench: Bench,
) -> None:
    old, _ = bench.install("apple\n")
    bench.passed += 48 * 3600
    nowhere, output = install(bench.made, bench.wanted("basket\n"), offline=True)
    assert nowhere is None
    assert "The package index cannot be reached from here: " in output.splitlines()[-1]
    wanted = bench.wanted("apple\n")
    assert bench.made.find(wanted) is None
    again, output = install(bench.made, wanted, offline=True)
    assert again == old
    assert "installing the packages of the last resolution" in output


def test_another_index_is_another_request(bench: Bench) -> None:
    before = bench.wanted("apple\n")
    bench.open("http://127.0.0.1:9/simple")
    assert bench.wanted("apple\n").request != before.request


@pytest.mark.heavy
def test_a_package_without_a_wheel_is_built_in_a_second_step(bench: Bench) -> None:
    environment, output = install(bench.made, bench.wanted("homemade\n"))
    assert environment, output
    assert "has no wheel for Python" in output
    assert bench.made.find(bench.wanted("homemade\n")) == environment
    exact = bench.wanted("homemade\n", environment.lock)
    assert bench.made.find(exact) == environment
    (bench.folder / f"made/{environment.key}.json").unlink()
    again, _ = bench.install("homemade\n", environment.lock)
    assert again == environment


@pytest.mark.heavy
def test_a_build_that_fails_says_what_the_build_said(bench: Bench, index: PackageIndex) -> None:
    index.add_source("homemade", "1.1", builder("raise SystemExit('no compiler today')"))
    output = bench.fail("homemade==1.1\n")
    assert output.splitlines()[-1] == "homemade==1.1 could not be built: no compiler today."


@pytest.mark.heavy
def test_a_package_that_is_known_not_to_build_is_replaced_where_it_does_not(
    bench: Bench, index: PackageIndex
) -> None:
    index.add_source("homemade", "1.1", builder("raise SystemExit('a file is missing')"))
    index.add_wheel("wreath", "1.0", {"wreath.py": "import homemade\n"}, requires="homemade>=1.1")
    index.add_wheel("twin", "2.0", {"homemade.py": ""})
    assert "homemade==1.1 could not be built" in bench.fail("wreath\n")
    before = bench.wanted("wreath\n")
    bench.open(index.url, {"homemade": "twin==2.0"})
    wanted = bench.wanted("wreath\n")
    assert wanted.request != before.request
    environment, output = install(bench.made, wanted)
    assert environment, output
    said = "homemade==1.1 could not be built: a file is missing. Installing twin==2.0 in its place"
    assert said in output
    assert imports(environment, wanted, "wreath, homemade").code == 0
    assert "twin==2.0" in environment.lock
    assert "homemade" not in environment.lock
    (bench.folder / f"made/{environment.key}.json").unlink()
    assert bench.install("wreath\n", environment.lock)[0] == environment


# Keeping house


def test_what_a_crash_left_half_made_is_removed_at_the_start(bench: Bench) -> None:
    kept, wanted = bench.install("apple\n")
    bench.made.steps(bench.wanted("basket\n"), "crashed-install")
    (bench.folder / "made/half/bin").mkdir(parents=True)
    (bench.folder / "made/lost.json").write_text("{}")
    bench.made.start()
    assert {file.name for file in (bench.folder / "made").iterdir()} == {
        kept.key,
        f"{kept.key}.json",
    }
    assert not (bench.folder / "shared/crashed-install").exists()
    assert not list((bench.folder / "builds").iterdir())
    assert bench.made.find(wanted) == kept


def test_an_installation_that_outlived_the_server_is_not_disturbed(bench: Bench) -> None:
    wanted = bench.wanted("apple\n")
    [wheels, _] = bench.made.steps(wanted, "alive-install")
    bench.made.start({"alive-install"})
    assert run_box(wheels).code == 0
    assert bench.made.accept(wanted, "alive-install")


@pytest.mark.heavy
def test_after_a_loss_of_power_what_may_not_be_on_disk_is_made_again(bench: Bench) -> None:
    old, _ = bench.install("apple\n")
    bench.made.clean(set(), 10**12)
    assert not (bench.folder / "unsettled").exists()
    time.sleep(0.05)
    new, _ = bench.install("basket\n")
    bench.made.start()
    assert bench.made.find(bench.wanted("basket\n")) == new
    (bench.folder / "unsettled").write_text("the boot before")
    began = (bench.folder / "made" / new.key).stat().st_ctime - 0.001
    os.utime(bench.folder / "unsettled", (began, began))
    bench.made.start()
    assert bench.made.find(bench.wanted("basket\n")) is None
    assert bench.made.find(bench.wanted("apple\n")) == old
    assert list((bench.folder / "shared/cache").iterdir()) == []


@needs.root("only root can give files away")
def test_the_installer_owns_what_it_writes_and_a_tight_umask_hides_nothing(
    tmp_path: Path, index: PackageIndex, python: Interpreter
) -> None:
    before = os.umask(0o077)
    try:
        bench = Bench(tmp_path, index.url, python)
        bench.made = Environments(
            bench.folder, installer=Installer(runtime=RUNTIME, index=index.url, uid=1_899_999_999)
        )
        (bench.folder / "shared/cache/left-by-another-user").touch()
        bench.made.start()
        assert not list((bench.folder / "shared/cache").iterdir())
        bench.made.steps(bench.wanted("./apple\n"), "x-install")
        bench.made.steps(bench.wanted("apple\n"), "y-install")
        for path in ("shared", "shared/cache", "shared/y-install"):
            assert (bench.folder / path).stat().st_uid == 1_899_999_999, path
        for path in ("builds/y-install", "builds/x-install/model", "builds/x-install/x-install"):
            assert (bench.folder / path).stat().st_uid == 1_899_999_998, path
        environment, _ = bench.install("apple\n")
    finally:
        os.umask(before)
    for file in [Path(environment.path), *Path(environment.path).rglob("*")]:
        if not file.is_symlink():
            assert file.stat().st_mode & 0o004, file


@pytest.mark.heavy
def test_the_longest_unused_go_first_and_those_in_use_never(bench: Bench) -> None:
    made = [bench.install(text)[0] for text in ("apple\n", "basket\n", "homemade\n")]
    for age, one in zip((30, 20, 10), made, strict=True):
        then = time.time() - age * 24 * 3600
        os.utime(bench.folder / f"made/{one.key}.json", (then, then))
    bench.made.clean(set(), 10**12)
    total = bench.made.clean(set(), 10**12)
    assert len(list((bench.folder / "made").glob("*.json"))) == 3
    left = bench.made.clean({made[0].key}, total - 1)
    assert left < total
    assert {file.stem for file in (bench.folder / "made").glob("*.json")} == {
        made[0].key,
        made[2].key,
    }
    bench.made.clean({made[0].key}, 0)
    assert {file.name for file in (bench.folder / "made").iterdir()} == {
        made[0].key,
        f"{made[0].key}.json",
    }
    assert list((bench.folder / "shared/cache").iterdir()) == []
    assert imports(made[0], bench.wanted("apple\n"), "apple").code == 0
    assert bench.install("basket\n")


def test_an_installation_under_way_keeps_its_cache(bench: Bench) -> None:
    bench.install("apple\n")
    bench.made.steps(bench.wanted("basket\n"), "now-install")
    bench.made.clean(set(), 0)
    assert list((bench.folder / "shared/cache").iterdir()) != []


def test_a_box_has_all_it_needs_and_nothing_else(bench: Bench) -> None:
    wanted = bench.wanted("apple\n")
    wheels, build = bench.made.steps(wanted, "x-install")
    assert msgspec.json.decode(msgspec.json.encode(wheels), type=type(wheels)) == wheels
    assert wheels.writable == [(str(bench.folder / "shared"), "/environments")]
    assert build.writable == [(str(bench.folder / "builds/x-install"), "/environments")]
    assert set(wheels.env) <= {
        "HOME", "PATH", "LANG", "SSL_CERT_FILE", "UV_CACHE_DIR", "UV_LINK_MODE", "UV_NO_CONFIG",
        "UV_NO_PROGRESS", "UV_PYTHON_DOWNLOADS", "UV_DEFAULT_INDEX",
    }  # fmt: skip
    with pytest.raises(ValueError, match="cache"):
        bench.made.steps(wanted, "cache")
    with pytest.raises(ValueError, match="outside"):
        bench.made.steps(wanted, "../outside")


# The real thing


@pytest.mark.heavy
def test_every_python_gets_an_environment_from_the_public_index(
    tmp_path: Path, found: Found
) -> None:
    for interpreter in found.interpreters:
        has_an_environment(tmp_path / interpreter.version, interpreter)


def has_an_environment(folder: Path, interpreter: Interpreter) -> None:
    folder.mkdir()
    bench = Bench(folder, "", interpreter)
    empty, wanted = bench.install(None)
    code = "import sys, ssl, sqlite3; print(*sys.version_info[:3], sep='.'); print(sys.prefix)"
    done = run_inside(empty, wanted, empty.python, "-c", code)
    assert done.output.split() == [interpreter.release, empty.inside]
    environment, wanted = bench.install("six\n")
    assert imports(environment, wanted, "six").code == 0
    done = run_inside(environment, wanted, environment.python, "-v", "-c", "import six")
    assert "__pycache__/six.cpython" in done.output
    assert "code object from '/environments" in done.output


@pytest.mark.heavy
def test_real_packages_install_and_import(tmp_path: Path, python: Interpreter) -> None:
    bench = Bench(tmp_path, "", python)
    environment, wanted = bench.install("numpy\nrequests\n")
    assert imports(environment, wanted, "numpy, requests").code == 0
    built, wanted = bench.install("docopt==0.6.2\n")
    assert imports(built, wanted, "docopt").code == 0


@pytest.mark.parametrize(
    "line",
    [
        "./wheels/apple-1.0-py3-none-any.whl",
        "apple @ ./wheels/apple-1.0-py3-none-any.whl",
        "apple @ ./wheels/apple-1.0-py3-none-any.whl --hash=sha256:{}",
    ],
)
def test_a_wheel_of_the_model_is_installed_now_and_from_its_lock(
    bench: Bench, index: PackageIndex, line: str
) -> None:
    [wheel] = (index.folder / "simple/apple").glob("*.whl")
    (bench.model / "wheels").mkdir()
    shutil.copy(wheel, bench.model / "wheels")
    text = "--no-index\n" + line.format(hashlib.sha256(wheel.read_bytes()).hexdigest()) + "\n"
    environment, wanted = bench.install(text)
    assert imports(environment, wanted, "apple").code == 0
    shutil.rmtree(bench.folder)
    bench.open(index.url)
    again, wanted = bench.install(None, environment.lock)
    assert again.lock == environment.lock
    assert imports(again, wanted, "apple").code == 0


def test_a_wheel_of_the_model_with_another_hash_is_not_installed(
    bench: Bench, index: PackageIndex
) -> None:
    [wheel] = (index.folder / "simple/apple").glob("*.whl")
    shutil.copy(wheel, bench.model)
    said = bench.fail(f"--no-index\napple @ ./{wheel.name} --hash=sha256:{'0' * 64}\n")
    assert "hash" in said.splitlines()[-1].lower()

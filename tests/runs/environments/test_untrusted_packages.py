"""What a package does while it is built or installed harms nobody and is found by nobody else."""

from pathlib import Path

import pytest

from tapeline.errors import CannotInstall
from tapeline.runs.environments.cache import Environment, Wanted
from tests.runs.environments.index import PackageIndex, builder
from tests.runs.environments.package_bench import Bench
from tests.runs.sandbox.boxes import install, run_inside


def write_package(bench: Bench, during_build: str) -> None:
    (bench.model / "pkg").mkdir(exist_ok=True)
    for name, text in builder(during_build).items():
        (bench.model / "pkg" / name).write_text(text)


def told(environment: Environment, wanted: Wanted) -> str:
    code = "import homemade; print(homemade.TOLD)"
    return run_inside(environment, wanted, environment.python, "-c", code).output


def test_a_build_sees_neither_the_shared_cache_nor_other_environments(bench: Bench) -> None:
    bench.install("apple\n")
    spy = """
for root, folders, files in os.walk("/environments"):
    told.write("\\n".join(os.path.join(root, name) for name in folders + files) + "\\n")
for path in ("/etc/shadow", "/environments/shared", "/environments/made"):
    told.write(path + " " + str(os.path.exists(path)) + "\\n")
told.write(" ".join(sorted(os.environ)))
"""
    write_package(bench, spy)
    environment, wanted = bench.install("./pkg\n")
    said = told(environment, wanted)
    assert "apple" not in said
    assert "True" not in said
    assert "TAPELINE" not in said
    assert not (bench.folder / "builds/run-install").exists()


@pytest.mark.heavy
def test_what_a_build_leaves_is_found_by_nobody_else(bench: Bench) -> None:
    """It claims to be the plain environment of apple, and writes wherever it can."""
    honest, _ = bench.install("apple\n")
    (bench.folder / f"made/{honest.key}.json").unlink()
    poison = f"""
import subprocess, sys
later = '''
import glob, time
for _ in range(200):
    for name in glob.glob("/environments/*/lock.txt"):
        open(name, "w").write({honest.lock!r})
    time.sleep(0.01)
'''
subprocess.Popen([sys.executable, "-c", later], start_new_session=True)
for name in ("/environments/cache/poison", "/environments/bytecode/poison"):
    open(name, "w").write("poison")
"""
    write_package(bench, poison)
    wanted = bench.wanted("./pkg\n")
    environment, _ = install(bench.made, wanted)
    assert environment is None or environment.key != honest.key
    assert bench.made.find(bench.wanted("apple\n")) is None
    assert bench.made.find(bench.wanted("apple\n", honest.lock)) is None
    assert not list(bench.folder.rglob("poison"))


@pytest.mark.heavy
def test_files_of_a_model_count_only_for_that_model(bench: Bench) -> None:
    write_package(bench, "told.write('one')")
    one = bench.wanted("./pkg\n", archive="one")
    assert one.request != bench.wanted("./pkg\n", archive="two").request
    environment, output = install(bench.made, one)
    assert environment, output
    assert bench.made.find(bench.wanted("./pkg\n", archive="two")) is None
    again = bench.wanted("./pkg\n", environment.lock)
    assert bench.made.find(again) == environment


@pytest.mark.heavy
def test_a_line_hidden_behind_a_comment_poisons_nobody(bench: Bench, index: PackageIndex) -> None:
    """The clean text must not find what was made for a text with one more line in it."""
    index.add_wheel("evil", "1.0", {"apple/__init__.py": "EVIL = True\n"})
    evil = f"evil @ {index.url}/evil/evil-1.0-py3-none-any.whl"
    for line in (f"--extra-index-url {index.url}", "--prefer-binary", "basket", "--no-binary pear"):
        clean = bench.wanted(f"apple\n{line}\n")
        for end in ("\n", "\r", "\r\n"):
            assert bench.wanted(f"apple\n{line} # x \\{end}{evil}\n").request != clean.request
    line = f"--extra-index-url {index.url}"
    environment, _ = bench.install(f"apple\n{line} # x \\\n{evil}\n")
    assert "evil" in environment.lock
    for project in ("mine", "theirs"):
        assert bench.made.find(bench.wanted(f"apple\n{line}\n", project=project)) is None
    honest, wanted = bench.install("apple\n")
    code = "import apple; print(hasattr(apple, 'EVIL'))"
    assert run_inside(honest, wanted, honest.python, "-c", code).output == "False\n"


@pytest.mark.heavy
def test_what_is_not_of_the_servers_index_alone_stays_in_its_project(
    bench: Bench, index: PackageIndex
) -> None:
    wheel = f"apple @ {index.url}/apple/apple-1.0-py3-none-any.whl\n"
    (bench.model / "wheels").mkdir()
    for text in (wheel, f"--extra-index-url {index.url}\napple\n", "-f ./wheels\napple\n"):
        mine = bench.wanted(text, project="mine")
        environment, output = install(bench.made, mine)
        assert environment, output
        assert bench.made.find(bench.wanted(text, project="mine")) == environment
        assert bench.made.find(bench.wanted(text, project="theirs")) is None
        exact = bench.wanted(text, environment.lock, project="mine")
        assert bench.made.find(exact) == environment
    assert environment is not None
    (bench.folder / f"made/{environment.key}.json").unlink()
    assert bench.install(text, environment.lock)[0] == environment
    shared, _ = install(bench.made, bench.wanted("apple\n", project="mine"))
    assert bench.made.find(bench.wanted("apple\n", project="theirs")) == shared


def test_the_lock_of_a_build_does_not_name_the_servers_index(
    bench: Bench, index: PackageIndex
) -> None:
    """It may hold a password, and locks are kept with versions."""
    write_package(bench, "")
    environment, _ = bench.install("./pkg\napple\n")
    assert "apple==1.0" in environment.lock
    assert index.url not in environment.lock


def test_a_lock_of_a_build_before_this_format_is_resolved_anew(bench: Bench) -> None:
    old = f"# tapeline: built for {'0' * 32}\nevil @ http://127.0.0.1:9/evil.whl\n"
    wanted = bench.wanted("apple\n", old)
    assert wanted == bench.wanted("apple\n")


def test_a_build_that_needs_no_file_of_the_model_sees_none(bench: Bench) -> None:
    remote = bench.wanted("homemade @ http://127.0.0.1:9/homemade-1.0.tar.gz\n")
    [box] = bench.made.steps(remote, "x-install")
    assert str(bench.model) not in [host for host, _ in box.readonly + box.writable]


@pytest.mark.heavy
def test_a_wheel_that_writes_over_another_package_changes_its_own_environment_only(
    bench: Bench, index: PackageIndex
) -> None:
    """Environments are hard links to the cache: what is written through one would be in all."""
    site = f"lib/python{bench.python.version}/site-packages/apple"
    poison = "from apple import core\nEVIL = True\n"
    honest, wanted = bench.install("apple\n")
    tricks = {
        "over": {"apple/__init__.py": poison},
        "data": {f"data-1.0.data/data/{site}/__init__.py": poison},
        "lib": {"lib-1.0.data/purelib/apple/__init__.py": poison},
        "script": {f"script-1.0.data/scripts/../{site}/__init__.py": poison},
        "entry": {
            "entry.py": "",
            "entry-1.0.dist-info/entry_points.txt": "[console_scripts]\n"
            f"../{site}/__init__.py = entry:main\n../../../cache/sprung = entry:main\n",
        },
    }
    for name, files in tricks.items():
        index.add_wheel(name, "1.0", files, requires="apple")
        install(bench.made, bench.wanted(f"apple\n{name}\n"))
    (bench.folder / f"made/{honest.key}.json").unlink()
    again, _ = bench.install("apple==1.0\n")
    for one in (honest, again):
        code = "import apple; print(hasattr(apple, 'EVIL'))"
        assert run_inside(one, wanted, one.python, "-c", code).output == "False\n"
    assert not list(bench.folder.rglob("sprung"))


def test_an_editable_package_is_that_of_the_running_model(bench: Bench) -> None:
    (bench.model / "pkg").mkdir()
    files = builder("")
    files["backend.py"] += """
def build_editable(folder, config_settings=None, metadata_directory=None):
    name = build_wheel(folder)
    with zipfile.ZipFile(os.path.join(folder, name), "a") as wheel:
        wheel.writestr("homemade_path.pth", os.getcwd())
    return name
get_requires_for_build_editable = get_requires_for_build_wheel
"""
    for name, text in files.items():
        (bench.model / "pkg" / name).write_text(text)
    (bench.model / "pkg/beside.py").write_text("print('from the model')\n")
    environment, wanted = bench.install("-e ./pkg\n")
    done = run_inside(
        environment, wanted, environment.python, "-c", "import beside", model=bench.model
    )
    assert done.output == "from the model\n"


def test_no_line_of_a_wheel_runs_while_it_is_installed(bench: Bench, index: PackageIndex) -> None:
    trap = "import os; os.system('touch /environments/cache/sprung /environments/sprung')\n"
    files = {"trap.pth": trap, "sitecustomize.py": trap, "usercustomize.py": trap, "trap.py": trap}
    index.add_wheel("trap", "1.0", files)
    bench.install("trap\n")
    assert not list(bench.folder.rglob("sprung"))


def test_links_left_for_the_server_are_not_followed(bench: Bench, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret==1.0\n")
    wanted = bench.wanted("./pkg\n")
    bench.made.steps(wanted, "x-install")
    staging = bench.folder / "builds/x-install/x-install"
    (staging / "lock.txt").symlink_to(secret)
    (staging / "environment").mkdir()
    with pytest.raises(CannotInstall):
        bench.made.accept(wanted, "x-install")
    bench.made.steps(wanted, "x-install")
    (staging / "lock.txt").write_text("apple==1.0\n")
    (staging / "environment").symlink_to(tmp_path)
    with pytest.raises(CannotInstall):
        bench.made.accept(wanted, "x-install")
    bench.made.steps(wanted, "x-install")
    staging.rename(staging.with_name("moved"))
    (tmp_path / "other/environment").mkdir(parents=True)
    (tmp_path / "other/lock.txt").write_text("apple==1.0\n")
    staging.symlink_to(tmp_path / "other")
    with pytest.raises(CannotInstall):
        bench.made.accept(wanted, "x-install")
    assert (tmp_path / "other/environment").exists()
    assert secret.exists()

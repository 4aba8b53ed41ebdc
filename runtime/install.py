"""Makes a model's environment, inside its sandbox: resolve, create, install, write bytecode.

Started by the model's own interpreter (Python 3.7 or newer, standard library only) with the folder
that holds plan.json. What it prints is for the person who deployed the model. Status 0: the folder
has lock.txt and, unless an environment of that lock exists already, `environment`. Status 75: only
wheels were allowed and something has none; the next step may build. Status 1: it failed.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import py_compile
import re
import shutil
import subprocess
import sys
import threading
import time
from typing import Any, Iterator, NoReturn

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # `-I` leaves it out
from install_words import NOT_BUILT, listed, normal, shortened, what_failed

TRY_NEXT, NO_ROOM = 75, 76
# Tests of a package are as much code as the package and are hardly ever imported.
NOT_COMPILED = {"tests", "test", "__pycache__"}
UNREACHABLE = re.compile(
    r"error sending request|dns error|connect error|connection (refused|reset|closed)|timed out"
    r"|network is unreachable|failed after \d+ retries|invalid peer certificate"
    r"|network connectivity is disabled",
    re.IGNORECASE,
)
NO_WHEEL = re.compile(
    r"no usable wheels|building (from source|source distributions) is disabled|no wheels? with a"
    r"|because it is marked as `--no-build`|no binary distribution|is not a wheel"
)


class Failed(Exception):
    """Said in words; `words` are those of uv."""

    def __init__(self, sentence: str, words: str = "", status: int = 1) -> None:
        super().__init__(sentence)
        self.words = words
        self.status = status


def main() -> int:
    os.umask(0o022)
    folder = sys.argv[1]
    plan = json.loads(sys.argv[2] if len(sys.argv) > 2 else read(os.path.join(folder, "plan.json")))
    try:
        if plan.get("only_bytecode"):
            compile_all(link_bytecode(plan["environment"], plan["store"]))
        else:
            install(folder, plan)
    except Failed as failure:
        for line in failure.words.splitlines():
            say("  " + line)
        say(str(failure))
        return failure.status
    except KeyboardInterrupt:
        say("Stopped.")
        return 1
    except OSError as error:
        say("The environment cannot be made: {}.".format(error.strerror or error))
        return 1
    except Exception as error:
        say("The environment cannot be made: {}: {}".format(type(error).__name__, error))
        return 1
    return 0


def install(folder: str, plan: dict[str, Any]) -> None:
    environment = os.path.join(folder, "environment")
    if plan["local"]:
        # Where the model runs its folder is at the same place, so that editable installs hold.
        copy_model(plan["upload"], plan["model"])
    watch_disk(folder, plan["keep_free_mb"])
    uv = Uv(plan, plan["model"] if plan["local"] else folder)
    # Meanwhile: resolving mostly waits for the index.
    venv = uv.start(["venv", "--relocatable", "--python", plan["python"], environment])
    instead: dict[str, str] = {}
    while True:
        try:
            is_new = install_packages(uv, plan, folder, venv, instead)
            break
        except CannotBuild as failure:
            instead.update(substitute(plan, failure))
    if not is_new:
        say("Everything is installed already.")
        return
    store = os.path.join(plan["compiled"], plan["release"])
    if plan["bytecode"] or os.path.isdir(store):
        missing = link_bytecode(environment, store)
        if plan["bytecode"]:
            compile_all(missing)
    if plan["build"]:
        open_to_all(environment)
    say("Installed.")


def install_packages(
    uv: Uv,
    plan: dict[str, Any],
    folder: str,
    venv: subprocess.Popen[bytes],
    instead: dict[str, str],
) -> bool:
    """Whether there was anything to install: not when an environment of the same lock exists."""
    environment = os.path.join(folder, "environment")
    pins = plan["requirements"]
    if plan["lock"] is None:
        pins = os.path.join(folder, "pins.txt")
        resolve(uv, plan, pins, instead)
    text = plan["lock"]
    if text is None:
        text = "".join(one + "\n" for one in plan["options"]) + read(pins)
    write(os.path.join(folder, "lock.txt"), text)
    if hashlib.sha256(text.encode("utf-8")).hexdigest() in plan["made"]:
        venv.communicate()
        return False
    uv.finish(venv, "The environment")
    if read(pins).strip():
        say("Installing " + listed(text, plan))
        sync(uv, plan, environment, pins)
    return True


def substitute(plan: dict[str, Any], failure: CannotBuild) -> dict[str, str]:
    """What is known to do in place of a package that cannot be built; used once."""
    instead = plan["substitutes"].pop(failure.package, None)
    if instead is None or plan["lock"] is not None:
        raise failure
    for line in failure.words.splitlines():
        say("  " + line)
    say("{} Installing {} in its place, which is the same module.".format(failure, instead))
    return {failure.package: instead}


def resolve(uv: Uv, plan: dict[str, Any], pins: str, instead: dict[str, str]) -> None:
    count = len(plan["names"])
    say(
        "Resolving {} requirement{} for Python {}".format(
            count, "" if count == 1 else "s", plan["version"]
        )
    )
    arguments = ["pip", "compile", "--quiet", "--no-header", "--no-annotate", "--generate-hashes"]
    arguments += ["--python", plan["python"], "--output-file", pins, plan["requirements"]]
    arguments += ["--constraints", plan["constraints"]]
    if instead:
        # uv can replace the version of a package, not its name: it is left out, the other added.
        write(pins + ".without", "".join(one + "; sys_platform == 'none'\n" for one in instead))
        write(pins + ".instead.txt", "".join(one + "\n" for one in instead.values()))
        arguments += ["--override", pins + ".without", pins + ".instead.txt"]
    if plan["prereleases"]:
        arguments += ["--prerelease", "allow"]
    try:
        uv.run(arguments + uv.options(), "Resolving")
        resolve_within_bounds(uv, plan, pins, arguments)
    except Unreachable as failure:
        if plan["previous"] is None:
            raise
        for line in failure.words.splitlines():
            say("  " + line)
        say("The package index cannot be reached: installing the packages of the last resolution.")
        plan["lock"] = plan["previous"]
        write(pins, plan["previous_pins"])
    else:
        write(pins, with_hashes_asked_for(read(pins), plan))


def resolve_within_bounds(uv: Uv, plan: dict[str, Any], pins: str, arguments: list[str]) -> None:
    """Again, if one of the packages is known to need what it does not name. Whoever asks for the
    opposite gets it, and is told."""
    found = {normal(one) for one in re.findall(r"^([A-Za-z0-9._-]+)==", read(pins), re.MULTILINE)}
    bounds = sorted(bound for package, bound in plan["bounds"].items() if package in found)
    if not bounds:
        return
    write(pins + ".bounds.txt", "".join(bound + "\n" for bound in bounds))
    within = [*arguments, "--constraints", pins + ".bounds.txt"]
    try:
        uv.run(within + uv.options(), "Resolving")
    except Unreachable:
        raise
    except Failed:
        say("These requirements may not work together: some need {}.".format(", ".join(bounds)))


def with_hashes_asked_for(pins: str, plan: dict[str, Any]) -> str:
    """uv pins the hashes that the index has now, whatever the requirements said: leave only those
    that were asked for, so that nothing else can be installed."""
    entries = [one.rstrip("\n") for one in re.split(r"\n(?=[^\s])", pins)]
    return "".join(with_hashes_of(one, plan) + "\n" for one in entries if one)


def with_hashes_of(entry: str, plan: dict[str, Any]) -> str:
    # uv names an archive of the model by its path alone, whatever the requirements called it.
    found = re.match(r"\./\S+|[A-Za-z0-9][A-Za-z0-9._-]*", entry)
    name = found.group() if found else ""
    if not name.startswith("./"):
        name = normal(name)
    if name not in plan["hashes"]:
        if plan["require_hashes"]:
            raise Failed("The requirements use --require-hashes, but give none of " + name + ".")
        return entry
    hashes = [one for one in re.findall(r"--hash=(\S+)", entry) if one in plan["hashes"][name]]
    first = entry.partition(" \\\n")[0]
    if not hashes:
        raise Failed("No file of {} has a hash that the requirements allow.".format(first))
    return " \\\n    ".join([first] + ["--hash=" + one for one in hashes])


def sync(uv: Uv, plan: dict[str, Any], environment: str, pins: str) -> None:
    arguments = ["pip", "sync", "--python", os.path.join(environment, "bin", "python"), pins]
    arguments += uv.options()
    if plan["lock"] is not None and not plan["build"]:
        # What was installed before is most likely still here: then no index is asked.
        try:
            uv.run([*arguments, "--offline"], "Installing")
        except Failed:
            pass
        else:
            return
    uv.run(arguments, "Installing")


class Unreachable(Failed):
    """The index, not the requirements, is to blame."""


class CannotBuild(Failed):
    """The source of a package does not build here."""

    def __init__(self, package: str, sentence: str, words: str) -> None:
        super().__init__(sentence, words)
        self.package = package


class Uv:
    def __init__(self, plan: dict[str, Any], work: str) -> None:
        self.plan = plan
        self.work = work

    def options(self) -> list[str]:
        asked = [part for option in self.plan["options"] for part in option.split(" ", 1)]
        return asked if self.plan["build"] else [*asked, "--no-build"]

    def run(self, arguments: list[str], doing: str) -> None:
        self.finish(self.start(arguments), doing)

    def start(self, arguments: list[str]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [self.plan["uv"], *arguments],
            cwd=self.work,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )

    def finish(self, process: subprocess.Popen[bytes], doing: str) -> None:
        """Progress is passed on as it comes; everything else only if it fails."""
        words = []
        assert process.stderr is not None
        for raw in process.stderr:
            line = raw.decode("utf-8", "replace").rstrip()
            if re.match(r"\s*(Downloading|Building|Built) ", line):
                say("  " + line.strip())
            else:
                words.append(line)
        if process.wait():
            raise self.failure("\n".join(words).strip(), doing, process.returncode)

    def failure(self, words: str, doing: str, status: int) -> Failed:
        if UNREACHABLE.search(words.partition("[std")[0]):  # output of the build, not of uv
            causes = re.findall(r"cause: (.+)", words) or ["it gave no reason"]
            return Unreachable(
                "The package index cannot be reached from here: {}.".format(shortened(causes[-1])),
                words,
            )
        if NO_WHEEL.search(words) and not self.plan["build"]:
            wanted = re.search(r"`([^`]+)` because building|Because ([^ ]+) has no usable", words)
            name = (wanted.group(1) or wanted.group(2)) if wanted else "A requirement"
            return Failed(
                "{} has no wheel for Python {} on this machine: trying to build it.".format(
                    name, self.plan["version"]
                ),
                "",
                TRY_NEXT,
            )
        if status < 0:
            cause = "it was killed by signal {}, most likely for using too much memory".format(
                -status
            )
            return Failed("{} failed: {} (setting install_memory).".format(doing, cause), words)
        sentence = what_failed(words, doing, self.plan["version"])
        not_built = NOT_BUILT.search(words)
        if not_built:
            return CannotBuild(normal(not_built.group(1)), sentence, words)
        return Failed(sentence, words)


def copy_model(upload: str, model: str) -> None:
    """Builds write next to their sources, so they get a copy."""
    for name in os.listdir(upload):
        source, target = os.path.join(upload, name), os.path.join(model, name)
        if os.path.isdir(source):
            shutil.copytree(source, target, symlinks=True)
        else:
            shutil.copy2(source, target)


def watch_disk(folder: str, keep_free_mb: int) -> None:
    """A package that unpacks to more than the disk holds must not take down the server. A disk that
    has no room before anything begins is not the model's fault."""

    def has_room() -> bool:
        disk = os.statvfs(folder)
        return disk.f_bavail * disk.f_frsize >= keep_free_mb * 1024 * 1024

    def watch() -> NoReturn:
        while has_room():
            time.sleep(0.5)
        say("The disk of the server is nearly full: the installation was stopped.")
        os._exit(1)

    if not has_room():
        say("The disk of the server is nearly full.")
        sys.exit(NO_ROOM)
    threading.Thread(target=watch, daemon=True).start()


# Bytecode


def link_bytecode(environment: str, store: str) -> list[tuple[str, str, str]]:
    """Environments are mounted read-only: what is not compiled here is compiled at every start.

    Bytecode is kept by the hash of its source, so that it is made once for all environments. The
    store is only ever written where nothing of a package has run. What it lacks is returned.
    """
    os.makedirs(store, exist_ok=True)
    missing = []
    for source in sources(environment):
        with open(source, "rb") as file:
            kept = os.path.join(store, hashlib.sha256(file.read()).hexdigest())
        target = importlib.util.cache_from_source(source)
        try:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if os.path.lexists(target):
                os.unlink(target)
            os.link(kept, target)
        except OSError:  # most likely nobody has compiled it before
            missing.append((source, target, kept))
    return missing


def compile_all(missing: list[tuple[str, str, str]]) -> None:
    # A process costs more than a few files, and importing the pool more than an empty environment.
    if len(missing) < 40:
        for one in missing:
            compile_one(one)
        return
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(min(4, os.cpu_count() or 1)) as processes:
        for _ in processes.map(compile_one, missing, chunksize=8):
            pass


def compile_one(files: tuple[str, str, str]) -> None:
    """A file that is not valid Python is skipped, as every installer does. The environment is never
    changed, so its bytecode is valid without a look at the source."""
    source, target, kept = files
    try:
        py_compile.compile(
            source,
            target,
            doraise=True,
            invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
        )
        os.link(target, kept)
    except (py_compile.PyCompileError, OSError, ValueError, RecursionError, MemoryError):
        pass


def sources(environment: str) -> Iterator[str]:
    for folder, folders, files in os.walk(os.path.join(environment, "lib")):
        folders[:] = [name for name in folders if name not in NOT_COMPILED]
        for name in files:
            path = os.path.join(folder, name)
            if name.endswith(".py") and not os.path.islink(path):
                yield path


def open_to_all(environment: str) -> None:
    """Another user runs the model; nothing here keeps a right to become its owner."""
    for folder, folders, files in os.walk(environment):
        for name in [".", *folders, *files]:
            path = os.path.join(folder, name)
            if os.path.islink(path):
                continue
            mode = os.stat(path).st_mode & 0o7777
            wanted = (mode | (0o555 if os.path.isdir(path) else 0o444)) & 0o755
            if mode & 0o111:
                wanted |= 0o111
            if mode != wanted:
                os.chmod(path, wanted)


# Files


def read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())

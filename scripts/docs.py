"""Builds docs/ into the package with MkDocs, strictly: a warning fails. It needs no network.

    scripts/docs.py build      into src/tapeline/http/docs, when a source changed since
    scripts/docs.py serve      with live reload, on a separate port

TAPELINE_SKIP_WEB=1 leaves everything as it is, for work on the server alone.
"""

import base64
import gzip
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import web  # noqa: E402 - beside this file, also when a build hook loads it

BUILT = ROOT / "src" / "tapeline" / "http" / "docs"
STAMP = BUILT / "stamp"
PACKED = {".html", ".js", ".css", ".json", ".svg"}
# An inline script runs only if the policy has its hash; one with another type is data.
INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)
# Files that nobody requests: other languages, maps for debugging, and pages that would need to
# know at which address they are.
LEFT_OUT = ("404.html", "sitemap.xml*", "**/*.map", "assets/javascripts/lunr")


def main(arguments: list[str]) -> int:
    command = (arguments or ["build"])[0]
    if os.environ.get("TAPELINE_SKIP_WEB"):
        web.say("left out: TAPELINE_SKIP_WEB is set")
        return 0
    if command == "build":
        return build()
    if command == "serve":
        command = [sys.executable, "-m", "mkdocs", "serve"]
        return subprocess.run(command, cwd=ROOT, check=False).returncode
    print(__doc__, file=sys.stderr)
    return 2


def is_built() -> bool:
    return STAMP.is_file() and STAMP.read_text() == web.stamp_of(sources())


def build() -> int:
    if is_built():
        return 0
    web.say("building the documentation")
    # In the same folder, so that it can be moved into place at once.
    with tempfile.TemporaryDirectory(dir=BUILT.parent, prefix=".docs-") as folder:
        made = Path(folder) / "site"
        status = mkdocs(made)
        if status:
            return status
        tidy(made)
        (made / "scripts").write_text(inline_scripts(made))
        pack(made)
        (made / STAMP.name).write_text(web.stamp_of(sources()))
        shutil.rmtree(BUILT, ignore_errors=True)
        made.rename(BUILT)
    return 0


def sources() -> list[Path]:
    found = [ROOT / "mkdocs.yml", ROOT / "requirements" / "docs.txt", Path(__file__).resolve()]
    return found + sorted(path for path in (ROOT / "docs").rglob("*") if path.is_file())


def mkdocs(made: Path) -> int:
    # Not --quiet: warnings that it does not print do not count either.
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(made)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if ended.returncode:
        print(ended.stdout + ended.stderr, file=sys.stderr)
    return ended.returncode


def tidy(made: Path) -> None:
    for pattern in LEFT_OUT:
        for path in list(made.glob(pattern)):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()


def inline_scripts(made: Path) -> str:
    """The hashes that the policy of the pages has to name."""
    hashes = {
        base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        for page in made.rglob("*.html")
        for script in INLINE.findall(page.read_text("utf-8"))
    }
    return " ".join(f"'sha256-{one}'" for one in sorted(hashes))


def pack(made: Path) -> None:
    """Add a packed copy of each text: packed once, not at every request."""
    for path in list(made.rglob("*")):
        if path.suffix in PACKED:
            path.with_name(path.name + ".gz").write_bytes(
                gzip.compress(path.read_bytes(), 9, mtime=0)
            )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

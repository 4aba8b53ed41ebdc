"""The files mounted into every sandbox: the bootstrap, the reporter, the client.

None of them is imported here. A wheel has them in the folder `beside`, a checkout in its source
folders. The folder keeps its name: launches of older versions restart with it.
"""

from pathlib import Path

PACKAGE = Path(__file__).parents[2]
INSIDE = "/runtime"
_CHECKOUT = ("runtime", "client/src")


def folders() -> list[Path]:
    """The entries of a model's `PYTHONPATH`, as folders of this machine."""
    carried = PACKAGE / "beside"
    if carried.is_dir():
        return [carried]
    return [PACKAGE.parents[1] / name for name in _CHECKOUT]


def mounts(inside: str = INSIDE) -> list[tuple[str, str]]:
    """The same as one folder inside a sandbox: pairs of a path here and the path inside."""
    found = [entry for folder in folders() for entry in sorted(folder.iterdir())]
    return [(str(entry), f"{inside}/{entry.name}") for entry in found if _is_ours(entry)]


def _is_ours(entry: Path) -> bool:
    return entry.suffix == ".py" or (entry / "__init__.py").exists()

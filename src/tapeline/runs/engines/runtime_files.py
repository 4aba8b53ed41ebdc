"""What is put beside a model in its sandbox: the bootstrap, the reporter, the client.

None of it is imported here. A wheel carries it in its own folder; a checkout has it where it is
written.
"""

from pathlib import Path

PACKAGE = Path(__file__).parents[2]
INSIDE = "/runtime"
_CHECKOUT = ("runtime", "client/src")


def folders() -> list[Path]:
    """What a model's `PYTHONPATH` must show, as folders of this machine."""
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

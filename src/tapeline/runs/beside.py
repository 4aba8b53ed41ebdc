"""What is put beside a model in its sandbox: the runtime, and the client library."""

from pathlib import Path

PACKED = Path(__file__).parent.parent / "beside"
CHECKOUT = Path(__file__).parents[3]


def folders() -> list[Path]:
    """The runtime's folder first, then the one that holds the client's package."""
    if PACKED.exists():
        return [PACKED / "runtime", PACKED / "client"]
    return [CHECKOUT / "runtime", CHECKOUT / "client" / "src"]

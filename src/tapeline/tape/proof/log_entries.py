"""What the leaves of a tree of heads, and the entries of the log of such trees, say."""

import msgspec

PREFIX = "tapeline/"


def head_data(model_id: str, seq: int, link: bytes) -> bytes:
    """A leaf: this model's tape had this link at this number."""
    return msgspec.json.encode(["tapeline head", model_id, seq, link.hex()])


def entry_data(size: int, root: bytes, at: float) -> bytes:
    """An entry of the log: a tree of so many heads had this root at this time."""
    return msgspec.json.encode(["tapeline heads", size, root.hex(), repr(at)])


def origin_of(log: str) -> str:
    """The name of a log, as heads of it have it."""
    return PREFIX + log

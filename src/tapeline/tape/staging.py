"""Pieces of results, written in portions; nobody sees them until their event is on the tape."""

import shutil
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio.to_thread

from tapeline.errors import Problem
from tapeline.ids import new_id
from tapeline.store.store import Store
from tapeline.tape import uploads
from tapeline.tape.preparing import Piece, prepare_apart, prepare_here, read_pieces

SMALL = 256 * 1024
STAGED_AT_ONCE = 1_000_000  # bytes in one write: others' events must not wait for a whole result

"""Reads the status and result that a backtest wrote: untrusted files, so reads are bounded."""

import os
from pathlib import Path

import msgspec

from tapeline.runs.journals.meaning import BacktestOutput, Ending
from tapeline.runs.sandbox import foreign_files

LARGEST_STATUS = 1_000_000
LONGEST_SUMMARY = 1_000


class _Status(msgspec.Struct):
    successful: bool
    status_summary: str = ""
    status_details: str = ""


def read_output(folder: Path, largest: int) -> BacktestOutput:
    ending = _ending(folder / "status.json")
    result = folder / "result.json"
    file = foreign_files.opened(result)
    if file is None:
        return BacktestOutput(ending)
    with file:
        size = os.fstat(file.fileno()).st_size
    if size > largest:
        note = f"Its result has {size:,} bytes; the most this server accepts is {largest:,}."
        return BacktestOutput(msgspec.structs.replace(ending, details=ending.details or note))
    return BacktestOutput(ending, result)


def _ending(path: Path) -> Ending:
    content = foreign_files.read_text(path, LARGEST_STATUS)
    if content is None:
        return Ending()
    try:
        said = msgspec.json.decode(content, type=_Status)
    except (msgspec.MsgspecError, RecursionError):
        return Ending()
    return Ending(said.successful, said.status_summary[:LONGEST_SUMMARY], said.status_details)

"""`tapeline verify`: check a record offline. All of the checking is in `tape.record.checking`."""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from tapeline.cli.record import trusted_keys, witness_views
from tapeline.cli.terminal.command import JSON, command
from tapeline.cli.terminal.failures import Failure
from tapeline.cli.terminal.screen import Screen
from tapeline.results.changes import record_changes
from tapeline.results.changes.of_record import RecordReports
from tapeline.results.changes.record_changes import Told
from tapeline.results.changes.signed_reports import SignedReports
from tapeline.tape.proof.key_chain import Key
from tapeline.tape.record import checking, in_words
from tapeline.tape.record.lines import FirstHead
from tapeline.tape.record.lines import head as read_head
from tapeline.tape.record.outcome import Checked


@command(
    "tapeline verify 2vf5v8gcd8g79vvg.record.ndjson --server https://tapeline.example.com",
    options=JSON,
)
def verify(
    context: typer.Context,
    file: Annotated[
        Path, typer.Argument(help="A file made by `tapeline export`.", show_default=False)
    ],
    key: Annotated[
        list[str] | None,
        typer.Option(help="Fingerprint of a key that you know, or at least its first 16 digits."),
    ] = None,
    server: Annotated[
        str | None, typer.Option(help="Server whose published keys may have signed the record.")
    ] = None,
    tsa_certificate: Annotated[
        list[Path] | None,
        typer.Option(help="Certificates (PEM) of time-stamp authorities to trust, too."),
    ] = None,
    witness: Annotated[
        list[str] | None,
        typer.Option(
            metavar="URL|FINGERPRINT",
            help="A witness that you know: its address, to ask what it has seen, or its key.",
        ),
    ] = None,
    earlier: Annotated[
        Path | None,
        typer.Option(help="An earlier record of the same model: this one must continue it."),
    ] = None,
    late_seconds: Annotated[
        float,
        typer.Option(help="Report what was sent or changed this many seconds after the fact."),
    ] = checking.LATE_AFTER,
) -> None:
    """Check a record: chain and signatures, without any server.

    Reports what a passed check proves, and what it does not. Exits with status 0 if the record is
    proven, 1 if it is broken, 3 if it is consistent but its signer is unknown, and 4 if it is not
    signed up to its last event.
    """
    screen = Screen(as_json=context.obj.as_json)
    reports = RecordReports(late_seconds)
    known = trusted_keys.known(key or [])
    published = trusted_keys.published(server) if server else []
    witnesses = witness_views.named(witness or [])
    trusted = trusted_keys.certificates(tsa_certificate or [])
    check = partial(
        checking.check,
        late_after=late_seconds,
        known=known,
        trusted=trusted,
        published=published,
    )
    found = _compared(file, earlier, check, SignedReports(reports))
    said = witness_views.said(witnesses, found, _keys(file)) if found.is_whole else []
    told = record_changes.told(reports, found)
    _show(screen, found, told, said)
    if found.status:
        raise typer.Exit(found.status)


def _show(screen: Screen, found: Checked, told: Told | None, said: list[str]) -> None:
    if screen.as_json:
        more = {"is_whole": found.is_whole, "status": found.status, "verdict": found.verdict}
        more |= {"changed_afterwards": msgspec.to_builtins(told), "witnesses": said}
        screen.json({**msgspec.to_builtins(found), **more})
    else:
        screen.say_lines(in_words.words(found))
        for line in ["", *said] if found.is_whole else []:
            screen.say(line)  # with names from the file
        screen.say_lines(record_changes.words(told) if told else "")


def _keys(file: Path) -> list[Key]:
    """Those that the record has, which was checked before."""
    with file.open("rb") as lines:
        head = read_head(lines.readline())
    return [] if head is None or isinstance(head, FirstHead) else head.keys


def _compared(
    file: Path, earlier: Path | None, check: Callable[..., Checked], watch: SignedReports
) -> Checked:
    kept = None if earlier is None else _checked(earlier, check)
    if kept is not None and not kept.is_whole:
        kept.reason = f"The earlier record is broken, so nothing was compared: {kept.reason}"
        return kept
    return _checked(file, partial(check, earlier=kept, watch=watch))


def _checked(file: Path, check: Callable[[Iterable[bytes]], Checked]) -> Checked:
    try:
        with file.open("rb") as lines:
            return check(lines)
    except OSError as error:
        raise Failure(f"{file} cannot be read: {error.strerror}.") from error

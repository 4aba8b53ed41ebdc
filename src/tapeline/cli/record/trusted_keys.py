"""The keys that a reader of a record knows: given by fingerprint, or published by a server."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from tapeline.cli.server import profiles
from tapeline.cli.server.wire import Wire
from tapeline.cli.terminal.failures import Failure, Misused
from tapeline.tape.proof import key_chain, time_stamps
from tapeline.tape.proof.key_chain import Key
from tapeline.tape.record.proof_checks import Trusted

PUBLISHED = "/.well-known/tapeline-keys.json"
FINGERPRINT = re.compile(rf"[0-9a-f]{{{key_chain.ID_LENGTH},64}}")


class _Published(msgspec.Struct):
    """An entry of a server's list, which may say more."""

    public_key: str
    made_at: float | None = None
    previous: str | None = None
    signature: str | None = None
    acceptance: str | None = None


class _List(msgspec.Struct):
    keys: list[_Published]


def known(given: list[str]) -> list[str]:
    """Fingerprints, as `checking` takes them."""
    return [_fingerprint(one) for one in given]


def _fingerprint(text: str) -> str:
    plain = re.sub(r"[\s:]", "", text).lower()
    if not FINGERPRINT.fullmatch(plain):
        raise Misused(
            f"--key {text} is not a fingerprint: it has 64 digits from 0 to f, of which the first"
            f" {key_chain.ID_LENGTH} are enough."
        )
    return plain


def published(server: str) -> list[Key]:
    """The keys of a server, each confirmed by the one before."""
    # Nobody on the way may answer in the server's place, unless the reader asks for plain HTTP.
    url = server if profiles.is_url(server) else f"https://{server}"
    answer = Wire(profiles.normal_url(url)).get(PUBLISHED)
    try:
        said = msgspec.convert(answer, _List)
    except msgspec.ValidationError as error:
        raise Failure(f"{server} does not publish keys of Tapeline.") from error
    keys = [Key(**msgspec.structs.asdict(one)) for one in said.keys]
    if trouble := key_chain.trouble(keys):
        raise Failure(f"The keys that {server} publishes do not fit together. {trouble}")
    return keys


def certificates(files: list[Path]) -> Trusted:
    """Those in files, and those of this machine; read when the first stamp is there."""
    given = [one for file in files for one in _read(file)]
    return cache(lambda: [*given, *time_stamps.of_this_machine()])


def _read(file: Path) -> list[Any]:
    try:
        return time_stamps.certificates(file.read_bytes())
    except OSError as error:
        raise Failure(f"{file} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise Failure(f"{file} has no certificate in PEM form.") from error

"""How another server introduces itself: its keys, the name of its log, its name as a witness."""

from http import HTTPStatus

import msgspec

from tapeline.errors import Problem
from tapeline.tape.proof import key_chain, outgoing
from tapeline.tape.proof.key_chain import Key

PATH = "/.well-known/tapeline-keys.json"


class NotIntroduced(Problem):
    """The other server does not publish what a witness needs."""


class Introduction(msgspec.Struct):
    keys: list[Key]
    log: str
    witness: str


class _Published(msgspec.Struct):
    """A key of the list, which may say more."""

    public_key: str
    made_at: float | None = None
    previous: str | None = None
    signature: str | None = None
    acceptance: str | None = None


class _Introduction(msgspec.Struct):
    keys: list[_Published]
    log: str = ""
    witness: str = ""


def of(address: str) -> Introduction:
    """Blocks. The keys are whole chains, but whose they are is for the caller to know."""
    answer = outgoing.get(address + PATH)
    if answer.status != HTTPStatus.OK:
        raise NotIntroduced(f"{address}{PATH} answered with status {answer.status}.")
    try:
        said = msgspec.json.decode(answer.content, type=_Introduction)
    except msgspec.DecodeError as error:
        raise NotIntroduced(f"{address} does not publish keys of Tapeline.") from error
    keys = [Key(**msgspec.structs.asdict(one)) for one in said.keys]
    if trouble := key_chain.trouble(keys):
        raise NotIntroduced(f"The keys that {address} publishes do not fit together. {trouble}")
    if not keys or not _is_name(said.log) or not _is_name(said.witness):
        raise NotIntroduced(f"{address} runs a version of Tapeline without witnesses.")
    return Introduction(keys, said.log, said.witness)


def _is_name(text: str) -> bool:
    return text.isascii() and text.isprintable() and 0 < len(text) < 200 and not {*" +"} & {*text}

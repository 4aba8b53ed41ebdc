"""Time stamps by outside authorities (RFC 3161): asking for one, and checking one offline.

The only file that knows the library, which is imported when a stamp is asked for or checked.
"""

from collections.abc import Sequence
from hashlib import sha256
from http import HTTPStatus
from typing import Any

import msgspec

from tapeline.errors import Problem
from tapeline.tape.proof import outgoing
from tapeline.tape.proof.outgoing import NoAnswer

SHA256 = "2.16.840.1.101.3.4.2.1"
_GRANTED = 0


class NoStamp(Problem):
    """The time-stamp authority gave no stamp."""


class WrongStamp(ValueError):
    """A stamp over something else, or with a signature that is not its authority's."""


class Stamped(msgspec.Struct, frozen=True):
    """What a stamp says."""

    at: float
    """Epoch seconds, by the authority's clock."""
    is_trusted: bool
    """Whether its certificate leads to one that the reader trusts."""


def ask(address: str, text: bytes) -> tuple[bytes, float]:
    """A new stamp over a text, and its time. Blocks; never follows a redirect."""
    client = _library()
    algorithm = client.HashAlgorithm.SHA256
    query = client.TimestampRequestBuilder().data(text).hash_algorithm(algorithm).build()
    answer = _posted(address, query.as_bytes())
    try:
        found = client.decode_timestamp_response(answer)
        info = found.tst_info if found.status == _GRANTED else None
    except ValueError as error:
        raise NoStamp(f"{address} does not answer as a time-stamp authority.") from error
    if info is None:
        raise NoStamp(f"{address} refused to stamp: {'; '.join(found.status_string)}.")
    if info.nonce != query.nonce or not _is_over(info, text):
        raise NoStamp(f"{address} stamped something else.")
    return answer, info.gen_time.timestamp()


def check(response: bytes, text: bytes, trusted: Sequence[Any]) -> Stamped:
    """Check a stamp over a text, against certificates that the reader trusts."""
    client = _library()
    try:
        found = client.decode_timestamp_response(response)
        if found.status != _GRANTED or not _is_over(found.tst_info, text):
            raise WrongStamp
        at = found.tst_info.gen_time.timestamp()
    except (ValueError, TypeError) as error:
        raise WrongStamp from error
    if not trusted:
        return Stamped(at, False)
    try:
        verifier = client.VerifierBuilder(roots=list(trusted)).build()
        verifier.verify(found, sha256(text).digest())
    except client.VerificationError as error:
        if "certificate verify error" in str(error):
            return Stamped(at, False)
        raise WrongStamp from error
    return Stamped(at, True)


def certificates(pem: bytes) -> list[Any]:
    """Those in a file; raises ValueError if there are none."""
    from cryptography import x509  # noqa: PLC0415 - only records with stamps need it

    return list(x509.load_pem_x509_certificates(pem))


def of_this_machine() -> list[Any]:
    """The roots that this system trusts."""
    import ssl  # noqa: PLC0415
    import warnings  # noqa: PLC0415

    from cryptography import x509  # noqa: PLC0415

    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about old roots, which no reader can change
        for one in ssl.create_default_context().get_ca_certs(binary_form=True):
            try:
                found.append(x509.load_der_x509_certificate(one))
            except ValueError:  # one that the library refuses
                continue
    return found


def _is_over(info: Any, text: bytes) -> bool:
    imprint = info.message_imprint
    is_sha256 = imprint.hash_algorithm.dotted_string == SHA256
    return is_sha256 and bytes(imprint.message) == sha256(text).digest()


def _posted(address: str, query: bytes) -> bytes:
    try:
        answer = outgoing.post(address, query, "application/timestamp-query")
    except NoAnswer as problem:
        raise NoStamp(problem.message) from problem
    if answer.status != HTTPStatus.OK:
        raise NoStamp(f"{address} answered with status {answer.status}.")
    return answer.content


def _library() -> Any:
    import rfc3161_client  # noqa: PLC0415 - start-up stays light

    return rfc3161_client

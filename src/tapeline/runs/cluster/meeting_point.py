"""Where the nodes of a cluster reach API servers, and how each side knows the other.

Every server has a certificate of its own, made when it starts and published in the database; nodes
trust exactly those. A node shows a token that any server of the installation can check and nobody
else can make.
"""

import hmac
import os
import ssl
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import msgspec
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from sqlalchemy import Connection

from tapeline.runs import heartbeat
from tapeline.runs.node.frames import Server
from tapeline.runs.node.servers import NAME
from tapeline.store import facts
from tapeline.store.backends.database import Database
from tapeline.store.encryption import Cipher

PUBLISHED = f"{facts.PASSING}meeting point:"
LIFE, SLOW_CLOCKS = timedelta(days=3650), timedelta(days=2)
_PURPOSE = b"a node of the cluster\0"


def token_of(cipher: Cipher, node: str) -> str:
    return cipher.fingerprints(_PURPOSE + node.encode())[0]


def is_token_of(cipher: Cipher, node: str, token: str) -> bool:
    """Also one that was made before the keys were rotated."""
    known = cipher.fingerprints(_PURPOSE + node.encode())
    return any(hmac.compare_digest(one, token) for one in known)


def certificate() -> tuple[ssl.SSLContext, str]:
    """A new one with its key, for a server, and in PEM for those who are to trust it."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - SLOW_CLOCKS)
        .not_valid_after(now + LIFE)
        .sign(key, hashes.SHA256())
    )
    pem = made.public_bytes(serialization.Encoding.PEM)
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    # The library wants a file; this one is in memory and private.
    descriptor = os.memfd_create("certificate")
    try:
        os.write(descriptor, key.private_bytes(*form, serialization.NoEncryption()) + pem)
        context.load_cert_chain(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)
    return context, pem.decode()


def publish(connection: Connection, host: str, server: Server) -> None:
    facts.put(connection, PUBLISHED + host, msgspec.json.encode(server).decode())


def published(connection: Connection, database: Database, hosts: Iterable[str]) -> list[Server]:
    """Those of these servers that run now."""
    up = sorted(heartbeat.up(connection, database, hosts))
    found = facts.get_all(connection, [PUBLISHED + host for host in up])
    return [msgspec.json.decode(found[name], type=Server) for name in sorted(found)]

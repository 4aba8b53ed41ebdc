"""Where the nodes of a cluster reach API servers, and how each side knows the other.

Every server has a certificate of its own, which is published in the database; nodes trust exactly
those. A node shows a token that any server of the installation can check and nobody
else can make.
"""

import hmac
import ssl
from pathlib import Path

import msgspec
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from sqlalchemy import Connection, select

from tapeline import certificates, private_files
from tapeline.runs import heartbeat
from tapeline.runs.node.frames import Server
from tapeline.runs.node.servers import NAME
from tapeline.store import facts
from tapeline.store.backends.database import Database
from tapeline.store.encryption import Cipher, UnusableKey
from tapeline.store.tables.runs import hosts

PUBLISHED = f"{facts.PASSING}meeting point:"
FILE = "nodes-port.pem"
_PURPOSE = b"a node of the cluster\0"


def token_of(cipher: Cipher, node: str) -> str:
    return cipher.fingerprints(_PURPOSE + node.encode())[0]


def is_token_of(cipher: Cipher, node: str, token: str) -> bool:
    """Also one that was made before the keys were rotated."""
    known = cipher.fingerprints(_PURPOSE + node.encode())
    return any(hmac.compare_digest(one, token) for one in known)


def certificate(file: Path) -> tuple[ssl.SSLContext, str]:
    """The server's own, which this file keeps: nodes still trust a server that was started anew.
    For the server, and in PEM for those who are to trust it."""
    content = private_files.read_or_make(file, _made)
    try:
        return certificates.server_context(content), _public_part(content)
    except ValueError as error:  # `SSLError` is one
        raise UnusableKey(
            f"The key file {file} is empty or damaged. Delete it: a new one is made."
        ) from error


def _made() -> bytes:
    key, name = certificates.new_key(), certificates.name(NAME)
    made = certificates.begun(name, name, key.public_key()).sign(key, hashes.SHA256())
    return certificates.private_pem(key) + certificates.pem(made)


def _public_part(content: bytes) -> str:
    return certificates.pem(x509.load_pem_x509_certificate(content)).decode()


def publish(connection: Connection, host: str, server: Server) -> None:
    facts.put(connection, PUBLISHED + host, msgspec.json.encode(server).decode())


def published(connection: Connection, database: Database) -> list[Server]:
    """The servers that run now."""
    query = select(hosts.c.name).where(hosts.c.node == "", hosts.c.forgotten_at.is_(None))
    up = sorted(heartbeat.up(connection, database, list(connection.scalars(query))))
    found = facts.get_all(connection, [PUBLISHED + host for host in up])
    return [msgspec.json.decode(found[name], type=Server) for name in sorted(found)]

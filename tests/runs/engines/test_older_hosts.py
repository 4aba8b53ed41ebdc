"""The older platform's names lead to the events port inside, and are believed there alone."""

import socket
import ssl
import threading
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

from tapeline import certificates
from tapeline.runs.engines import older_hosts
from tapeline.runs.engines.older_hosts import HOSTS, Authority
from tapeline.runs.environments.cache import Environment


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return older_hosts.authority(tmp_path / "keys")


def handshake(server: ssl.SSLContext, trust: Path, host: str) -> None:
    """Raises what a client that trusts this file raises about the server."""
    ours, theirs = socket.socketpair()

    def serve() -> None:
        try:
            server.wrap_socket(theirs, server_side=True).close()
        except (ssl.SSLError, OSError):
            theirs.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        client = ssl.create_default_context(cafile=trust)
        client.verify_flags |= ssl.VERIFY_X509_STRICT  # as new versions of Python do
        client.wrap_socket(ours, server_hostname=host).close()
    finally:
        ours.close()
        thread.join()


@pytest.mark.parametrize("host", HOSTS)
def test_who_trusts_the_bundle_believes_each_name(
    authority: Authority, tmp_path: Path, host: str
) -> None:
    bundle = tmp_path / "bundle.pem"
    bundle.write_bytes(authority.pem())
    handshake(authority.context(), bundle, host)


def test_a_restart_changes_nothing_for_those_who_trust_it(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.pem"
    bundle.write_bytes(older_hosts.authority(tmp_path).pem())
    handshake(older_hosts.authority(tmp_path).context(), bundle, HOSTS[0])
    assert (tmp_path / older_hosts.FILE).stat().st_mode & 0o077 == 0


def test_the_authority_is_believed_about_no_other_name(
    authority: Authority, tmp_path: Path
) -> None:
    """Whoever gets hold of its key cannot be anybody's exchange."""
    key = ec.generate_private_key(ec.SECP256R1())
    honest = older_hosts._issue(authority, key)
    forged = (
        x509.CertificateBuilder(
            subject_name=honest.subject,
            issuer_name=honest.issuer,
            public_key=key.public_key(),
            serial_number=1,
            not_valid_before=honest.not_valid_before_utc,
            not_valid_after=honest.not_valid_after_utc,
            extensions=[one for one in honest.extensions if one.oid.dotted_string != "2.5.29.17"],
        )
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("api.binance.com")]), False)
        .sign(authority.key, hashes.SHA256())
    )
    chain = tmp_path / "forged.pem"
    chain.write_bytes(certificates.private_pem(key) + certificates.pem(forged))
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(chain)
    bundle = tmp_path / "bundle.pem"
    bundle.write_bytes(authority.pem())
    with pytest.raises(ssl.SSLCertVerificationError, match="permitted subtree violation"):
        handshake(server, bundle, "api.binance.com")


def test_each_file_of_certificates_gets_one_more_and_nothing_of_others(
    authority: Authority, tmp_path: Path
) -> None:
    below = "lib/python3.11/site-packages/certifi/cacert.pem"
    environment = Environment(key="k", path=str(tmp_path / "env"), inside="/env", lock="")
    certifi = tmp_path / "env" / below
    certifi.parent.mkdir(parents=True)
    own = "-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----"
    certifi.write_text(f"# a comment\n{own}\nhello\n")

    def trusted() -> dict[str, str]:
        found = older_hosts.trusted(authority, environment, tmp_path / "trust")
        return {inside: Path(path).read_text() for path, inside in found}

    made = trusted()
    assert made[f"/env/{below}"] == f"{own}\n{authority.pem().decode()}"
    for path in set(made) - {f"/env/{below}"}:
        assert made[path].startswith(Path(path).read_text().strip()), "of the system"
        assert made[path].endswith(authority.pem().decode())
    secret = tmp_path / "secret"
    secret.write_text(own.replace("QUJD", "REVG"))
    certifi.unlink()
    certifi.symlink_to(secret)
    assert "REVG" not in trusted()[f"/env/{below}"], "a link leads where only we may read"

"""The host names that are built into clients of the older platform, and an authority for them.

Trust in it is limited to that domain: its certificate says so, and every library that checks
certificates enforces that.
"""

import re
import ssl
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID

from tapeline import certificates, private_files
from tapeline.errors import CannotStart
from tapeline.runs.environments.cache import Environment
from tapeline.runs.sandbox import foreign_files
from tapeline.store.encryption import UnusableKey

DOMAIN = "blankly.finance"
HOSTS = tuple(f"{name}.{DOMAIN}" for name in ("events", "deploy", "app"))
FILE = "older-hosts.pem"
SYSTEM_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)

CERTIFI = "lib/python*/site-packages/certifi/cacert.pem"
CERTIFICATE = re.compile(b"-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----")
LARGEST_BUNDLE = 5_000_000


@dataclass(frozen=True)
class Authority:
    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    def pem(self) -> bytes:
        return certificates.pem(self.certificate)

    def context(self) -> ssl.SSLContext:
        """For a server that answers to those names."""
        key = certificates.new_key()
        content = certificates.private_pem(key) + certificates.pem(_issue(self, key))
        return certificates.server_context(content)


def authority(folder: Path) -> Authority:
    """The authority whose key is in this folder; created at its first use."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    content = private_files.read_or_make(folder / FILE, _made)
    try:
        key = serialization.load_pem_private_key(content, password=None)
        certificate = x509.load_pem_x509_certificate(content)
    except ValueError as error:
        raise UnusableKey(
            f"The key file {folder / FILE} is empty or damaged. Delete it: a new one is made."
        ) from error
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    return Authority(key, certificate)


def trusted(authority: Authority, environment: Environment, folder: Path) -> list[tuple[str, str]]:
    """Files of trusted certificates with the authority's added, each as a pair of its path here
    and the path inside where it lies over the usual one: the one of the environment's packages,
    which `requests` and its like read, and the system's. No variable of the environment says
    where to look, because each would take something away from one client or another."""
    folder.mkdir(mode=0o700, exist_ok=True)
    found: list[tuple[bytes, str]] = []
    for path in _of_the_system():
        found.append((path.read_bytes(), str(path.resolve())))
    for path in Path(environment.path).glob(CERTIFI):
        # An untrusted file: only certificates are taken from it.
        text = foreign_files.read_text(path, LARGEST_BUNDLE) or ""
        inside = f"{environment.inside}/{path.relative_to(environment.path)}"
        found.append((b"\n".join(CERTIFICATE.findall(text.encode())), inside))
    pairs = {inside: folder / f"{number}.pem" for number, (_, inside) in enumerate(found)}
    for content, inside in found:
        pairs[inside].write_bytes(b"%b\n%b" % (content.strip(), authority.pem()))
        pairs[inside].chmod(0o644)  # the user that root becomes must read it
    return [(str(path), inside) for inside, path in pairs.items()]


def trusted_by_system() -> bytes:
    for path in _of_the_system():
        return path.read_bytes().strip() + b"\n"
    raise CannotStart(
        "This system has no file of trusted certificates."
        " Install them with: apt-get install ca-certificates"
    )


def _of_the_system() -> list[Path]:
    return [path for path in map(Path, SYSTEM_BUNDLES) if path.is_file()]


def _made() -> bytes:
    key = certificates.new_key()
    name = certificates.name("Tapeline, for clients of an older platform")
    certificate = (
        certificates.begun(name, name, key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(key_cert_sign=True, crl_sign=True), critical=True)
        .add_extension(x509.NameConstraints([x509.DNSName(DOMAIN)], None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    return certificates.private_pem(key) + certificates.pem(certificate)


def _issue(issuer: Authority, key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    signer = issuer.key.public_key()
    return (
        certificates.begun(
            certificates.name(HOSTS[0]), issuer.certificate.subject, key.public_key()
        )
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(digital_signature=True), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(
            x509.SubjectAlternativeName([x509.DNSName(host) for host in HOSTS]), critical=False
        )
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer), critical=False)
        .sign(issuer.key, hashes.SHA256())
    )


def _usage(**wanted: bool) -> x509.KeyUsage:
    kinds = (
        *("digital_signature", "content_commitment", "key_encipherment", "data_encipherment"),
        *("key_agreement", "key_cert_sign", "crl_sign", "encipher_only", "decipher_only"),
    )
    return x509.KeyUsage(**dict.fromkeys(kinds, False) | wanted)

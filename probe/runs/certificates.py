"""The certificates by which the machines of a cluster know each other, all of one authority.

Dask asks who connects for a certificate that the authority has signed, and looks at no host names:
who has `node.pem` and `node.key` belongs to the cluster. The authority's own key is thrown away, so
no further certificate can be made; for other machines copy the files, or make all anew.
"""

import os
from datetime import datetime, timedelta, timezone
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from probe.errors import writing

NAMES = ("ca.pem", "node.pem", "node.key")
DAYS, MAX_DAYS = 1825, 36_500
"""For which they are valid: five years, and at most a hundred."""


def write_certificates(folder: Path, days: int = DAYS) -> dict[str, Path]:
    """Write `ca.pem`, and `node.pem` with `node.key` that it signed; return the three paths.

    Raises FileError where the folder cannot be written to.
    """
    authority, node = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    paths = {name: folder / name for name in NAMES}
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        _write_private(paths["node.key"], node)
        for name, key in (("ca.pem", authority), ("node.pem", node)):
            certificate = _certificate(key, authority, timedelta(days=days))
            paths[name].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    return paths


def _write_private(path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    """Write a key that only its owner can read."""
    form = serialization.PrivateFormat.PKCS8
    data = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)


def _certificate(
    key: ec.EllipticCurvePrivateKey, signer: ec.EllipticCurvePrivateKey, age: timedelta
) -> x509.Certificate:
    """Sign a key; one that signs itself is the authority's."""
    now, is_authority = datetime.now(timezone.utc), key is signer
    name = "NLI Clinic authority" if is_authority else "NLI Clinic node"
    own, issued = x509.SubjectKeyIdentifier, x509.AuthorityKeyIdentifier
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "NLI Clinic authority")]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + age)
        .add_extension(x509.BasicConstraints(is_authority, None), critical=True)
        .add_extension(issued.from_issuer_public_key(signer.public_key()), critical=False)
        .add_extension(own.from_public_key(key.public_key()), critical=False)
        .sign(signer, hashes.SHA256())
    )

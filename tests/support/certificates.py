"""A certificate authority of a test's own, and what it signs."""

from datetime import datetime, timedelta, timezone
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


def write_certificates(folder: Path) -> dict[str, Path]:
    """Write `ca.pem`, and `node.pem` with `node.key` that it signed; return the three paths."""
    authority, node = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    paths = {name: folder / name for name in ("ca.pem", "node.pem", "node.key")}
    paths["ca.pem"].write_bytes(_certificate("authority", authority, authority, is_authority=True))
    paths["node.pem"].write_bytes(_certificate("node", node, authority, is_authority=False))
    paths["node.key"].write_bytes(
        node.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return paths


def _certificate(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    signer: ec.EllipticCurvePrivateKey,
    is_authority: bool,
) -> bytes:
    now = datetime.now(timezone.utc)
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "authority")]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.BasicConstraints(is_authority, None), critical=True)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False
        )
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    return builder.sign(signer, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

"""The command that makes a cluster's certificates."""

import stat
from datetime import datetime, timedelta, timezone
from pathlib import Path

from cryptography import x509

from tests.support.commands import run


def test_the_authority_signs_the_node(tmp_path: Path) -> None:
    assert run("certificates", str(tmp_path / "new")).exit_code == 0
    authority, node = (
        x509.load_pem_x509_certificate((tmp_path / "new" / name).read_bytes())
        for name in ("ca.pem", "node.pem")
    )
    node.verify_directly_issued_by(authority)


def test_only_the_owner_reads_the_key(tmp_path: Path) -> None:
    run("certificates", str(tmp_path))
    assert stat.S_IMODE((tmp_path / "node.key").stat().st_mode) == 0o600


def test_certificates_that_are_there_stay_unless_they_are_renewed(tmp_path: Path) -> None:
    run("certificates", str(tmp_path))
    key = (tmp_path / "node.key").read_bytes()
    assert run("certificates", str(tmp_path)).stdout == f"there already: {tmp_path}\n"
    assert (tmp_path / "node.key").read_bytes() == key
    run("certificates", str(tmp_path), "--renew", "--days", "3")
    assert (tmp_path / "node.key").read_bytes() != key
    node = x509.load_pem_x509_certificate((tmp_path / "node.pem").read_bytes())
    left = node.not_valid_after_utc - datetime.now(timezone.utc)
    assert timedelta(days=2) < left <= timedelta(days=3)


def test_certificates_for_longer_than_dates_go_are_refused(tmp_path: Path) -> None:
    ended = run("certificates", str(tmp_path / "new"), "--days", "100000000")
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert ended.stderr.startswith("error: invalid value for '--days'")

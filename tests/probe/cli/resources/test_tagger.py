"""`python -m probe tagger train`: files that it refuses."""

import gzip
from pathlib import Path

from tests.support.commands import refusal

LINE = "The_DT man_NN walks_VBZ ._.\n"


def test_what_teaches_nothing_is_refused(tmp_path: Path) -> None:
    for packed, sentence in [
        (gzip.compress(b""), "is empty"),
        (gzip.compress(b"no tags here\n"), "it takes some of each"),
        (gzip.compress(LINE.encode() * 50)[:-12], "cannot be"),
        (gzip.compress(f"caf\u00e9_QQ {LINE}".encode("latin-1")), "it takes some of each"),
    ]:
        file, out = tmp_path / "lines.gz", tmp_path / "out"
        file.write_bytes(packed)
        assert sentence in refusal("tagger", "train", str(file), "--out", str(out)), (
            packed,
            sentence,
        )
        assert not out.exists(), (packed, sentence)

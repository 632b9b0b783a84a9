"""The bytes of a file, unpacked where gzip or zstd packed them, and the encoding of its text."""

import codecs
import io
import re
import shutil
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from math import log
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, AnyStr, Literal

import pyarrow as pa

from probe.data.names import shown
from probe.errors import FileError, FileQuestion, what_is_wrong
from probe.limits import UNBOUNDED, Bounds
from probe.stopping import check_stop

PIECE_BYTES = 1 << 16
MAX_MEMBERS = 100_000
"""Members of a visitor's gzip file; each costs time even where it holds nothing."""
MEGABYTE = 1_000_000


class Unpacked(io.RawIOBase):
    """The bytes of a file, unpacked as the end of its name says.

    Reading raises LimitError as soon as there are more bytes than the bound, FileError where the
    file cannot be opened or unpacked.
    """

    def __init__(self, path: Path, bounds: Bounds) -> None:
        self._name, self._bounds = path.name, bounds
        try:
            self._file = path.open("rb")
        except OSError as problem:
            raise self._refusal(problem) from problem
        self._pieces = filter(None, COMPRESSIONS[compression_of(path)](self._file, bounds))
        self._left, self._bytes = memoryview(b""), 0

    def readable(self) -> bool:
        """Say that the stream can be read."""
        return True

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()

    def readinto(self, buffer: Any) -> int:  # Any: a writable buffer, which 3.10 has no type for
        """Fill the buffer as far as the next piece goes; return the count of bytes."""
        if not self._left:
            check_stop()
            try:
                self._left = memoryview(next(self._pieces, b""))
            except (OSError, EOFError, zlib.error) as problem:
                raise self._refusal(problem) from problem
            self._bytes += len(self._left)
            self._bounds.check("max_unpacked_mb", self._bytes / MEGABYTE)
        count = min(len(buffer), len(self._left))
        buffer[:count] = self._left[:count]
        self._left = self._left[count:]
        return count

    def _refusal(self, problem: Exception) -> FileError:
        words = str(problem) if isinstance(problem, EOFError) else what_is_wrong(problem)
        return FileError(f"{self._name} cannot be opened: {words}")


def compression_of(path: Path) -> str:
    """Return the end of a name that says how the file is packed, "" where it is not."""
    suffix = path.suffix.lower()
    return suffix if suffix in COMPRESSIONS else ""


HELD_BYTES = 1 << 22
"""Bytes of an unpacked file that stay in memory, so that it is opened once; a larger one is opened
anew for each pass."""


@dataclass(frozen=True)
class Content:
    """The unpacked bytes of a file, which are `held` in memory where they are few."""

    path: Path
    bounds: Bounds
    held: bytes | None = field(default=None, repr=False, compare=False)

    def open(self) -> IO[bytes]:
        """Open the bytes. Raises FileError; reading raises as `Unpacked` does."""
        if self.held is not None:
            return io.BytesIO(self.held)
        return io.BufferedReader(Unpacked(self.path, self.bounds), PIECE_BYTES)

    @contextmanager
    def whole(self) -> Iterator[Path | io.BytesIO]:
        """Give the bytes, or a file that holds them for as long as the block lasts.

        Raises FileError, LimitError.
        """
        if self.held is not None:
            yield io.BytesIO(self.held)
        elif not compression_of(self.path):
            yield self.path
        else:
            with TemporaryDirectory() as folder:
                copy = Path(folder) / self.path.with_suffix("").name
                with self.open() as packed, copy.open("wb") as file:
                    shutil.copyfileobj(packed, file, PIECE_BYTES)
                yield copy


def content_of(path: Path, bounds: Bounds) -> Content:
    """Read a file's bytes if they are few. Raises FileError, LimitError."""
    content = Content(path, bounds)
    with content.open() as file:
        begun = file.read(HELD_BYTES + 1)
    return replace(content, held=begun) if len(begun) <= HELD_BYTES else content


def pieces_of(file: IO[AnyStr], size: int = PIECE_BYTES) -> Iterator[AnyStr]:
    """Yield what a file holds piece by piece."""
    while piece := file.read(size):
        yield piece


def _gunzip(file: IO[bytes], bounds: Bounds) -> Iterator[bytes]:
    """Yield what the members of a gzip file hold, some of it empty, a piece at a time."""
    packed = file.read(PIECE_BYTES)
    members = 0
    while packed:
        members += 1
        if members > MAX_MEMBERS and bounds != UNBOUNDED:
            raise EOFError(f"it has more than {MAX_MEMBERS:,} gzip members; pack it anew")
        member = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
        while not member.eof:
            piece = member.decompress(packed, PIECE_BYTES)
            packed = member.unconsumed_tail
            yield piece
            if not (piece or packed or member.eof) and not (packed := file.read(PIECE_BYTES)):
                raise EOFError("it ends too early")
        packed = member.unused_data.lstrip(b"\0") or file.read(PIECE_BYTES)


def _unzstd(file: IO[bytes], bounds: Bounds) -> Iterator[bytes]:
    """Yield what the frames of a zstd file hold, a piece at a time."""
    with pa.CompressedInputStream(pa.PythonFile(file), "zstd") as stream:
        yield from pieces_of(stream)


COMPRESSIONS: Mapping[str, Callable[[IO[bytes], Bounds], Iterator[bytes]]] = {
    "": lambda file, bounds: pieces_of(file),
    ".gz": _gunzip,
    ".zst": _unzstd,
}
"""What unpacks a file, by the end of its name."""


LANGUAGES: Mapping[str, tuple[str, ...]] = {
    "cp1252": (
        "é1.9 à.5 è.3 ê.2 ç.1 â.1 î.05 ô.05 ù.06 û.06 ï.01 ë.01 œ.02",  # French
        "ä.6 ö.4 ü1 ß.3",  # German
        "í.7 ó.8 á.5 é.4 ñ.3 ú.2 ü.01",  # Spanish
        "ã.7 ç.5 á.5 é.5 ê.4 í.4 ó.3 õ.1 ú.2 à.1 â.2 ô.1",  # Portuguese
        "à.6 è.3 é.1 ì.1 ò.1 ù.2",  # Italian
        "ä1.8 å1.3 ö1.3 é.05",  # Swedish
        "å1.2 æ.9 ø.9 é.05",  # Danish and Norwegian
        "ä3.6 ö.4 å.01",  # Finnish
        "ð4.4 á1.8 í1.6 þ1.4 ó1 æ.9 ö.8 é.7 ú.6 ý.2",  # Icelandic
        "õ1.2 ä1.2 ü.8 ö.3 š.01 ž.01",  # Estonian
        "é.2 ë.1 ï.05 ö.02 ü.02",  # Dutch
        "à.7 é.5 è.4 ó.5 í.4 ç.2 ò.2 ú.2 ï.03 ü.01",  # Catalan
    ),
    "cp1250": (
        "í3.2 á2.2 ě1.6 é1.3 ř1.2 ý1 ž1 č.9 š.8 ů.7 ú.1 ť.04 ó.03 ď.02 ň.02",  # Czech
        "á2.4 í1.2 č1.1 ý1 é.9 š.9 ú.9 ž.9 ť.6 ľ.4 ň.3 ď.2 ô.2 ä.1 ó.1 ŕ.02 ĺ.01",  # Slovak
        "ł1.9 ę1.1 ą1 ó.9 ż.8 ś.7 ć.4 ń.2 ź.06",  # Polish
        "á3.5 é3.6 ó1 ö.9 ő.9 í.6 ü.5 ú.3 ű.2",  # Hungarian
        "č1 š1 ć.7 ž.6 đ.3",  # Croatian, Bosnian and Serbian
        "č1.3 š1 ž.7",  # Slovene
        "ă3.5 î1.2 ş1.1 ţ1 â.9",  # Romanian
    ),
    "cp1254": ("ı5.1 ü1.9 ş1.8 ç1.2 ğ1.1 ö.8 â.02 î.01",),  # Turkish
    "cp1257": (
        "ė1.4 š1 ž.8 ų1.3 ū.5 į.6 ą.7 č.4 ę.2",  # Lithuanian
        "ā3.9 ī1.9 ē1.8 š.9 ņ.6 ū.6 ļ.4 ž.2 ķ.1 č.1 ģ.1",  # Latvian
    ),
}  # fmt: skip
"""By encoding its languages, with the letters beyond ASCII that they have and their share in %."""
ALIKE: Mapping[str, tuple[str, ...]] = {"cp1250": ("iso8859_2",)}
"""Encodings of the same languages, with the letters in other places."""
ELSEWHERE = 0.0003
"""Share, in a language's letters beyond ASCII, of one that it has not: of a name or a loan word."""
NO_LETTER, WITHIN_NUMBER = 0.01, 0.00001
"""Share of a sign, such as a curly quote, and of a letter beside a digit, which is hardly one."""
RARER = 3.0
"""How much likelier, as a natural logarithm, Western Windows is before a letter is seen."""
BEYOND = re.compile(r"[^\x00-\x7f]")
WORD, FIRST_BEYOND = re.compile(rb"[A-Za-z\x80-\xff]+"), 0x80
PLAIN = 0.35
"""Share of ASCII's letters, in words of a Latin script that have others, at least."""
SURE = 3.0
"""How much more likely, as a natural logarithm, a reading must be than one in another encoding."""


def is_latin(content: bytes) -> bool:
    """Whether bytes beyond ASCII stand among letters of ASCII, as they do in Latin scripts."""
    whole = b"".join(word for word in WORD.findall(content) if not word.isascii())
    plain = sum(byte < FIRST_BEYOND for byte in whole)
    return bool(whole) and plain >= PLAIN * len(whole)


def likeliest(content: bytes) -> list[tuple[str, str]]:
    """Return the encoding and the text of the likeliest reading, then of what is nearly as likely.

    Readings with the same text are one: in the first encoding of the table that has it. Western
    Windows reads every text.
    """
    encodings = [each for known in LANGUAGES for each in (known, *ALIKE.get(known, ()))]
    readings: dict[str, tuple[float, str]] = {}
    for encoding in encodings:
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            if encoding != "cp1252":
                continue
            text = content.decode(encoding, errors="replace")
        readings.setdefault(text, (_likelihood(text, encoding), encoding))
    order = sorted(readings.items(), key=lambda each: -each[1][0])
    best = order[0][1][0]
    return [(encoding, text) for text, (likely, encoding) in order if best - likely < SURE]


def _likelihood(text: str, encoding: str) -> float:
    """Return the logarithm of how likely a text is in the likeliest language of an encoding."""
    known = next(each for each in LANGUAGES if encoding in (each, *ALIKE.get(each, ())))
    counts, signs = Counter[str](), 0.0 if encoding == "cp1252" else -RARER
    for match in BEYOND.finditer(text):
        at, character = match.start(), match[0]
        around = text[max(at - 1, 0) : at] + text[at + 1 : at + 2]
        if not character.isalpha():
            signs += log(ELSEWHERE if not character.isprintable() else NO_LETTER)
        elif any(each.isdigit() for each in around):
            signs += log(WITHIN_NUMBER)
        else:
            counts[character.lower()] += 1
    languages = []
    for letters in LANGUAGES[known]:
        shares = {each[0]: float(each[1:]) for each in letters.split()}
        whole = sum(shares.values())
        likelihoods = (
            count * log(shares.get(letter, ELSEWHERE * whole) / whole)
            for letter, count in counts.items()
        )
        languages.append(sum(likelihoods))
    return signs + max(languages)


SAMPLE_BYTES = 1 << 18
"""Bytes of which an encoding is guessed."""
MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
"""Byte order marks, the longer first: one of them begins with another."""
NO_TEXT = {
    b"PK\x03\x04": "a ZIP archive; where it is an Excel workbook, let its name end in .xlsx, else "
    "unpack it and name the file in it",
    b"\xd0\xcf\x11\xe0": "an Office document of the old form or with a password; save it anew as "
    ".xlsx without one, or as CSV",
    b"%PDF": "a PDF; save its table as CSV",
    b"PAR1": "Parquet; let its name end in .parquet",
    b"ARROW1": "Arrow; let its name end in .arrow",
    b"\x1f\x8b": "gzip; let its name end in .gz",
    b"\x28\xb5\x2f\xfd": "zstd; let its name end in .zst",
    b"BZh": "bzip2; unpack it, or pack it as .gz or .zst",
    b"\xfd7zXZ": "xz; unpack it, or pack it as .gz or .zst",
    b"SQLite format 3": "an SQLite database; export its table as CSV",
    b"version https://git-lfs.github.com/spec/": "a pointer of Git LFS and not the file itself; "
    "run git lfs pull where it was cloned",
    **dict.fromkeys(
        (b"<!doctype html", b"<html"),
        "a web page and no table; fetch the file that the page shows, or save its table as CSV",
    ),
    b"<?xml": "XML; save its table as CSV",
}
"""How files begin that are no text, and what to do with them."""
START_BYTES = 512
"""Bytes by which what is no text is known; blanks may stand before a page's first mark."""
MOSTLY = 0.4
"""Share of zeros from which every second byte is half of a UTF-16 character."""


LIKELY = ("utf-8", "cp1252", "cp1250", "latin-1")
"""What texts of Europe are mostly in; the last reads any bytes."""
ASCII_MARKS = '\r\n,;\t|"{}'
"""What lines, rows and objects are told apart by."""


@dataclass(frozen=True)
class TextFile:
    """A file that holds text: its encoding, and its first character that is no space.

    `mark` is the byte order mark that it begins with. A person may have `told` the encoding.
    """

    content: Content
    encoding: str
    first: str
    told: bool = False
    mark: bytes = b""

    @property
    def path(self) -> Path:
        """The file."""
        return self.content.path

    @property
    def bounds(self) -> Bounds:
        """Within what it is read."""
        return self.content.bounds

    @property
    def words(self) -> str:
        """The encoding in words where it was guessed or told, "" for UTF-8."""
        return "" if self.encoding == "utf-8-sig" else f"its text in {self.encoding.upper()}"

    @contextmanager
    def open(self, newline: Literal["", "\n"] = "\n") -> Iterator[IO[str]]:
        """Open the text without its mark, its line ends as they are. Raises FileError, LimitError.

        Without a `newline` a carriage return alone ends a line, too.
        """
        try:
            with self.content.open() as file:
                file.read(len(self.mark))
                with io.TextIOWrapper(file, self.encoding, newline=newline) as text:
                    yield text
        except UnicodeError as problem:
            if self.told:
                raise self._not_as_told() from problem
            raise no_text(self.path.name) from problem

    def _not_as_told(self) -> FileQuestion:
        """Say where the bytes are not in the encoding that was told, and what they may be in."""
        decoder, before, line = codecs.getincrementaldecoder(self.encoding)(), 0, 1
        where = "it does not begin or end as such a text does"
        with self.content.open() as file, suppress(UnicodeError):
            for piece in pieces_of(file):
                held = len(decoder.getstate()[0])
                try:
                    line += decoder.decode(piece).count("\n")
                except UnicodeDecodeError as problem:
                    good, byte = problem.object[: problem.start], problem.object[problem.start]
                    line += good.decode(self.encoding, "ignore").count("\n")
                    where = (
                        f"its byte {before - held + problem.start + 1:,}, in line {line:,}, is "
                        f"0x{byte:02X}, which is none of such a text there"
                    )
                    break
                before += len(piece)
        name = self.encoding.removesuffix("-sig")
        return FileQuestion(
            f"{self.path.name} is not in {name.upper()}: {where}",
            *(f"--encoding {each}" for each in LIKELY if each != name),
        )


def text_file(path: Path, bounds: Bounds, encoding: str = "") -> TextFile:
    """Find out how to read a file, unless its encoding is given.

    Raises FileError for a blank one and what is no text.
    """
    told = _known(encoding) if encoding else ""
    content = content_of(path, bounds)
    with content.open() as file:
        encoding = told or encoding_of(pieces_of(file, SAMPLE_BYTES), path.name)
    with content.open() as file:
        begun = file.read(START_BYTES)
    marks = (mark for mark, name in MARKS.items() if name == encoding)
    mark = next(filter(begun.startswith, marks), b"")
    found = TextFile(content, encoding, "", bool(told), mark)
    with found.open() as text:
        first = next((piece.lstrip() for piece in pieces_of(text) if piece.strip()), "")[:1]
    if not first:
        raise FileError(f"{path.name} is empty")
    return replace(found, first=first)


def _known(name: str) -> str:
    """Return an encoding as it is called here. Raises FileError where there is none of a name."""
    try:
        known = codecs.lookup(name.strip()).name
        ASCII_MARKS.encode(known)  # codecs of other things than text refuse it
    except (LookupError, UnicodeError, ValueError) as problem:
        raise FileError(
            f"there is no encoding {shown(name)}; utf-8, cp1250 and cp1252 are some"
        ) from problem
    return "utf-8-sig" if known == "utf-8" else known


def encoding_of(pieces: Iterable[bytes], name: str) -> str:
    """Return the encoding of a file's text, guessed where it is not UTF-8 and has no mark.

    All pieces, of `SAMPLE_BYTES` each, are looked at until one is not UTF-8. Raises FileError for
    what is no text.
    """
    decoder, piece = codecs.getincrementaldecoder("utf-8")(), b""
    try:
        for number, piece in enumerate(pieces):
            if number == 0 and (told := _told(piece, name)):
                return told
            decoder.decode(piece)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return _guessed(piece, name)
    return "utf-8-sig"


def check_content(content: Content, own: bytes = b"") -> None:
    """Refuse a file that begins as one of another form does, whatever its name says.

    `own` is how a file of the form in hand begins. Raises FileError, LimitError.
    """
    with content.open() as file:
        start = file.read(START_BYTES)
    if not start:
        raise FileError(f"{content.path.name} is empty")
    if not (own and start.startswith(own)):
        check_start(start, content.path.name)


def check_start(start: bytes, name: str) -> None:
    """Refuse what the first bytes of a file show to be no text. Raises FileError."""
    begun = start[:START_BYTES].removeprefix(codecs.BOM_UTF8).lstrip()
    for signature, words in NO_TEXT.items():
        if signature in (start[: len(signature)], begun[: len(signature)].lower()):
            raise FileError(f"{name} is {words}")


def no_text(name: str) -> FileError:
    """Return the refusal of a file that is no text."""
    return FileError(f"{name} is not text, or in an encoding that cannot be told")


def _told(start: bytes, name: str) -> str | None:
    """Return the encoding that a file's first bytes tell. Raises FileError."""
    for mark, encoding in MARKS.items():
        if start.startswith(mark) and mark != codecs.BOM_UTF8:
            return encoding
    check_start(start, name)
    if start[1::2].count(0) > MOSTLY * len(start) / 2:
        return "utf-16-le"
    if start[::2].count(0) > MOSTLY * len(start) / 2:
        return "utf-16-be"
    return None


def _guessed(piece: bytes, name: str) -> str:
    if len(piece) >= SAMPLE_BYTES:  # whole lines: a character may be cut at either end
        piece = piece.partition(b"\n")[2].rpartition(b"\n")[0] or piece
    if not is_latin(piece):
        from charset_normalizer import from_bytes  # slow, and few files need it

        matches = from_bytes(piece)
        best = matches.best()
        if best is None:
            raise no_text(name)
        # in a short text several encodings make equal sense: Western Windows is the likeliest
        alike = [match for match in matches if match.chaos <= best.chaos]
        western = any("cp1252" in match.could_be_from_charset for match in alike)
        return "cp1252" if western else best.encoding
    (encoding, text), *others = likeliest(piece)
    if not others:
        return encoding
    other, second = others[0]
    words = zip(text.split(), second.split(), strict=False)
    differing = next((pair for pair in words if pair[0] != pair[1]), (text[:20], second[:20]))
    raise FileQuestion(
        f"{name} may be in {encoding} ({shown(differing[0])}) or in {other} "
        f"({shown(differing[1])})",
        f"--encoding {encoding}", f"--encoding {other}",
    )  # fmt: skip

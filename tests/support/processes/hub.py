"""A hub on this machine that answers the requests of the real client.

It serves one model under two names, owner/tiny to everybody and owner/private to who has the token,
and data sets: each name has a folder for its own branch and maybe one for the hub's conversion.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import unquote

import pytest
from huggingface_hub import constants

from probe.cli.file_options import fetched
from tests.support.models.tiny_bert import tiny_bert

TOKEN = "the-owner-s"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
CONVERTED = "fedcba9876543210fedcba9876543210fedcba98"


@dataclass
class ServedDataset:
    """A data set: its files, those that the hub has converted, and what its card says."""

    files: Path
    converted: Path | None = None
    card: Mapping[str, Any] = field(default_factory=dict)

    def folder(self, revision: str) -> Path | None:
        """Return the files of a revision, None where there is none such."""
        if revision in (CONVERTED, "refs/convert/parquet"):
            return self.converted
        return self.files if revision in ("main", COMMIT) else None

    def info(self, revision: str) -> bytes | None:
        """Return what the hub says of a revision."""
        folder = self.folder(revision)
        if folder is None:
            return None
        paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        siblings = [
            {"rfilename": path.relative_to(folder).as_posix(), "size": path.stat().st_size}
            for path in paths
        ]
        commit = COMMIT if folder == self.files else CONVERTED
        info = {"id": "x/y", "sha": commit, "siblings": siblings, "cardData": self.card}
        return json.dumps(info).encode()


@dataclass
class Hub:
    """A folder that is served, the files that were fetched, and who asked."""

    folder: Path
    server: ThreadingHTTPServer
    fetched: list[str] = field(default_factory=list)
    asked: list[str | None] = field(default_factory=list)  # the token of each request
    datasets: dict[str, ServedDataset] = field(default_factory=dict)

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def handler(hub: Hub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, token = self.path.partition("?")[0], self.headers["Authorization"]
            hub.asked.append(token)
            if token == f"Bearer {TOKEN}":
                path = path.replace("/owner/private", "/owner/tiny")
            api, files = "/api/models/owner/tiny/", f"/owner/tiny/resolve/{COMMIT}/"
            if "/datasets/" in path and "/gated" not in path:
                self.answer_dataset(unquote(path))
            elif "/owner/gated" in path:
                self.answer(403, b"{}", {"X-Error-Code": "GatedRepo"})
            elif path.startswith(f"{api}revision/") and not path.endswith(("/main", COMMIT)):
                self.answer(404, b"{}", {"X-Error-Code": "RevisionNotFound"})
            elif path.startswith(f"{api}revision/"):
                info = {"id": "owner/tiny", "sha": COMMIT, "siblings": []}
                self.answer(200, json.dumps(info).encode())
            elif path.startswith(f"{api}tree/"):
                listed = [
                    {"type": "file", "path": p.name, "size": p.stat().st_size, "oid": p.name}
                    for p in hub.folder.iterdir()
                ]
                self.answer(200, json.dumps(listed).encode())
            elif path.startswith(files):
                name = path.removeprefix(files)
                self.answer_file(hub.folder, name, COMMIT)
            else:
                self.answer(401, b"{}", {"X-Error-Code": "RepoNotFound"})

        do_HEAD = do_GET

        def answer_file(self, folder: Path, name: str, commit: str) -> None:
            size = str((folder / name).stat().st_size)
            headers = {
                "ETag": f'"{commit[:4]}-{name}"',
                "X-Repo-Commit": commit,
                "Content-Length": size,
            }
            if self.command == "HEAD":
                self.answer(200, b"", headers)
            else:
                hub.fetched.append(name)
                self.answer(200, (folder / name).read_bytes(), headers)

        def answer_dataset(self, path: str) -> None:
            owner, name, *rest = path.partition("/datasets/")[2].split("/")
            served = hub.datasets.get(f"{owner}/{name}")
            if served is None:
                return self.answer(401, b"{}", {"X-Error-Code": "RepoNotFound"})
            if rest[:1] == ["resolve"] and (folder := served.folder(rest[1])):
                return self.answer_file(folder, "/".join(rest[2:]), rest[1])
            info = served.info("/".join(rest[1:]) or "main")
            if info is None:
                return self.answer(404, b"{}", {"X-Error-Code": "RevisionNotFound"})
            self.answer(200, info)

        def answer(self, code: int, body: bytes, headers: dict[str, str] | None = None) -> None:
            self.send_response(code)
            defaults = {"Content-Type": "application/json", "Content-Length": str(len(body))}
            for name, value in (defaults | (headers or {})).items():
                self.send_header(name, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


class Broken(BaseHTTPRequestHandler):
    """Closes the connection without an answer."""

    def handle(self) -> None:
        self.close_connection = True


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    folder = tiny_bert(tmp_path / "served")
    (folder / "pytorch_model.bin").write_bytes(b"a pickle")
    (folder / "README.md").write_text("about it")
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    hub = Hub(folder, server)
    server.RequestHandlerClass = handler(hub)
    Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    files = f"{url}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    monkeypatch.setattr(constants, "ENDPOINT", url)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", files)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "token"))
    monkeypatch.setenv("NLI_CLINIC_HOME", str(tmp_path / "home"))
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    fetched.cache_clear()  # another test's hub may have had a data set of this name
    yield hub
    hub.stop()

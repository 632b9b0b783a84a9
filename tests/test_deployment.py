"""The Dockerfile, compose.yaml, the Space, and what must not be in the files of any.

GitHub's workflow builds the image and starts the services.
"""

import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from probe.cli.service import BELONGS
from tests.support.checkout import PYTHONS, ROOT, ranges, text

FILES = (
    *("requirements.txt", "requirements-dev.txt", ".ci/run", ".dockerignore", "SECURITY.md"),
    *("Dockerfile", "Makefile", "constraints.txt", "packages.txt", "pyproject.toml"),
    *(".github/workflows/test.yml", "compose.yaml"),
)
PORT = "7860"
IMAGE = re.sub(r"[ \t]*\\\n\s*", " ", text("Dockerfile"))
COPIED = [path for line in re.findall(r"^COPY (.*)$", IMAGE, re.M) for path in line.split()[:-1]]
COMPOSE: dict[str, Any] = yaml.safe_load(text("compose.yaml"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]


def variables() -> dict[str, str]:
    """Return what the image sets for the app."""
    words = shlex.split(" ".join(re.findall(r"^ENV (.*)$", IMAGE, re.M)))
    return {name: value for name, _, value in (word.partition("=") for word in words)}


def test_the_image_has_what_exists_and_what_a_space_has_with_the_exact_versions() -> None:
    assert [path for path in COPIED if not (ROOT / path).exists()] == []
    assert set(COPIED) == {*BELONGS, "constraints.txt"}
    left_out = text(".dockerignore").split()
    assert not set(COPIED) & set(left_out)
    assert {"tests", ".git", ".venv", "var", "**/__pycache__"} <= set(left_out)
    if (ROOT / ".git").exists() and shutil.which("git"):
        asked = ["git", "-C", str(ROOT), "check-ignore", *COPIED]
        assert subprocess.run(asked, capture_output=True, text=True).stdout == ""


def test_the_image_runs_as_its_own_user_who_writes_to_volume_and_tmp_alone() -> None:
    assert re.findall(r"^USER (.*)$", IMAGE, re.M)[-1] == "1000" and "--uid 1000 user" in IMAGE
    assert "-o user -g user /home/user/app /home/user/data /home/user/certificates" in IMAGE
    places = {name: value for name, value in variables().items() if value.startswith("/")}
    assert places.pop("HOME") == "/home/user"
    assert {"NLI_CLINIC_HOME", "HF_HOME", "GRADIO_TEMP_DIR", "MPLCONFIGDIR"} <= set(places)
    assert [n for n, v in places.items() if not v.startswith(("/home/user/data", "/tmp"))] == []


def test_the_port_is_the_same_everywhere_and_a_space_has_a_gradio_and_a_python_we_support() -> None:
    assert re.findall(r"^EXPOSE (.*)$", IMAGE, re.M) == [PORT]
    assert variables()["GRADIO_SERVER_PORT"] == PORT
    assert variables()["GRADIO_SERVER_NAME"] == "0.0.0.0"
    assert f"http://127.0.0.1:{PORT}" in IMAGE.split("HEALTHCHECK")[1]
    assert SERVICES["app"]["ports"] == ["${CLINIC_ADDRESS:-127.0.0.1:7860}:7860"]
    space = yaml.safe_load(text("README.md").split("---\n")[1])
    assert str(space.get("app_port", PORT)) == PORT
    assert (space["sdk"], space["app_file"]) == ("gradio", "app.py")
    assert ranges("requirements.txt", "gradio").contains(str(space["sdk_version"]))
    assert str(space["python_version"]) == "3.12"


def test_nothing_is_installed_after_the_code_is_copied_and_wordnet_is() -> None:
    assert "\nRUN" not in IMAGE[IMAGE.index("COPY probe") :]
    assert text("packages.txt").split() == ["wordnet-base"]
    assert "packages.txt" in COPIED and "$(cat packages.txt)" in IMAGE


def test_the_services_are_read_only_wait_for_each_other_and_say_whether_they_are_well() -> None:
    assert list(SERVICES) == ["certificates", "database", "scheduler", "worker", "app"]
    waits: dict[tuple[str, str], str] = {}
    for name, service in SERVICES.items():
        assert service["read_only"] and "/tmp" in service["tmpfs"], name
        assert {each.split(":")[0] for each in service["volumes"]} <= set(COMPOSE["volumes"]), name
        assert name in ("app", "certificates") or service["healthcheck"]["test"], name
        asked = service.get("depends_on", {})
        waits |= {(name, other): each["condition"] for other, each in asked.items()}
    assert waits == {
        ("scheduler", "certificates"): "service_completed_successfully",
        ("worker", "scheduler"): "service_healthy",
        ("app", "database"): "service_healthy",
        ("app", "scheduler"): "service_healthy",
    }
    head, _, body = text("compose.yaml").partition("name: nli-clinic")
    needed = set(re.findall(r"\$\{(\w+)(?::\?|:-)", body)) - {"CLINIC_WORKER_THREADS"}
    assert [name for name in needed if name not in head] == []  # explained at the top


def test_the_services_make_the_certificates_that_they_use_and_make_them_once(
    tmp_path: Path,
) -> None:
    if not shutil.which("openssl"):
        pytest.skip("no openssl")
    named = {Path(v).name for v in SERVICES["app"]["environment"].values() if "/certificates/" in v}
    assert named == {"ca.pem", "node.pem", "node.key"}
    command = [word.replace("/tmp", str(tmp_path)) for word in SERVICES["certificates"]["command"]]
    (tmp_path / "own").mkdir()
    for authority in ("signs", "is not there"):
        subprocess.run(command, cwd=tmp_path / "own", check=True, capture_output=True)
        assert {path.name for path in (tmp_path / "own").iterdir()} == named
        assert (tmp_path / "ca.key").exists() == (authority == "signs")
        (tmp_path / "ca.key").unlink(missing_ok=True)


def test_a_file_names_no_place_of_one_machine() -> None:
    place = re.compile(
        r"file:|/root\b|/Users/|https?://(?!127\.0\.0\.1)\S+|" + re.escape(str(ROOT))
    )
    assert {name: found for name in FILES if (found := place.findall(text(name)))} == {}


def test_the_licence_is_whole_and_the_workflow_tests_the_oldest_python_and_builds_the_image() -> (
    None
):
    licence = text("LICENSE")
    assert [f"\n   {n}. " in licence for n in range(1, 10)] == [True] * 9
    assert "END OF TERMS AND CONDITIONS" in licence
    assert re.search(r"Copyright \d{4} The NLI Clinic authors", licence)
    jobs = yaml.safe_load(text(".github/workflows/test.yml"))["jobs"]
    assert jobs["test"]["strategy"]["matrix"]["python"] == [PYTHONS[0], "3.12"]
    tests, image = (
        [step["run"] for step in jobs[name]["steps"] if "run" in step] for name in ("test", "image")
    )
    assert tests == ["make test-all"]
    assert image[0].startswith("docker compose up --build --wait")

"""The Dockerfile, the Space, and what must not be in the files of either."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.checkout import PYTHONS, ROOT, ranges, text
from tests.support.processes.dockerfile import (
    Step,
    build_in,
    carry_out,
    ignore_lines,
    ignored,
    left_out,
    parse,
)

FILES = (
    "requirements.txt",
    "requirements-dev.txt",
    ".ci/run",
    ".dockerignore",
    ".github/workflows/test.yml",
    "SECURITY.md",
    "Dockerfile",
    "Makefile",
    "constraints.txt",
    "packages.txt",
    "pyproject.toml",
)
PORT = "7860"


@pytest.fixture(scope="module")
def steps() -> list[Step]:
    return parse(text("Dockerfile"))


def named(steps: list[Step], name: str) -> list[Step]:
    return [step for step in steps if step.name == name]


def copied(steps: list[Step]) -> list[str]:
    return [source for step in named(steps, "COPY") for source in step.paths()[0]]


def variables(steps: list[Step]) -> dict[str, str]:
    return {k: v for step in named(steps, "ENV") for k, v in step.assignments().items()}


# the Dockerfile


def test_a_continued_line_is_one_step_and_a_comment_is_none() -> None:
    found = parse("# a\nFROM x\nRUN one \\\n    # b\n    && two\n\nCOPY --chown=u a b ./\n")
    assert found == [
        Step("FROM", (), "x"),
        Step("RUN", (), "one && two"),
        Step("COPY", ("--chown=u",), "a b ./"),
    ]


@pytest.mark.parametrize(
    ("path", "left"),
    [
        ("tests/test_deployment.py", True),
        ("testset/a.csv", False),
        ("probe/ui/__pycache__/x.pyc", True),
        ("probe/.mypy_cache/x", True),
        ("assets/models/minilm/model.safetensors", False),
        ("probe/runs/store.py", False),
        (".git/config", True),
    ],
)
def test_dockerignore_leaves_out_what_the_app_does_not_need(path: str, left: bool) -> None:
    assert ignored(path, ignore_lines(ROOT)) == left


def test_what_is_copied_exists_and_is_not_left_out(steps: list[Step]) -> None:
    for source in copied(steps):
        assert (ROOT / source).exists(), source
        assert not ignored(source, ignore_lines(ROOT)), source


@pytest.mark.skipif(
    not ((ROOT / ".git").exists() and shutil.which("git")), reason="not a clone of the repository"
)
def test_git_keeps_what_is_copied(steps: list[Step]) -> None:
    asked = ["git", "-C", str(ROOT), "check-ignore", *copied(steps)]
    assert subprocess.run(asked, capture_output=True, text=True).stdout == ""


def test_the_last_user_is_1000(steps: list[Step]) -> None:
    assert named(steps, "USER")[-1].text == "1000"
    assert any("useradd" in s.text and "--uid 1000" in s.text for s in named(steps, "RUN"))


def test_nothing_is_installed_after_the_code_is_copied(steps: list[Step]) -> None:
    names = [step.name for step in steps]
    code = next(i for i, s in enumerate(steps) if s.name == "COPY" and "app.py" in s.text)
    assert "RUN" not in names[code:]


def test_the_port_is_the_same_everywhere(steps: list[Step]) -> None:
    assert [step.text for step in named(steps, "EXPOSE")] == [PORT]
    assert variables(steps)["GRADIO_SERVER_PORT"] == PORT
    assert variables(steps)["GRADIO_SERVER_NAME"] == "0.0.0.0"
    (health,) = named(steps, "HEALTHCHECK")
    assert f"127.0.0.1:{PORT}" in health.argv()[-1]
    assert header().get("app_port", PORT) == PORT


def test_the_app_writes_into_a_folder_of_its_user(steps: list[Step]) -> None:
    assert f" -o user -g user {variables(steps)['HOME']}" in " ".join(s.text for s in steps)
    assert variables(steps)["NLI_CLINIC_HOME"] in " ".join(s.text for s in named(steps, "RUN"))


def test_the_command_starts_a_file_that_is_copied(steps: list[Step]) -> None:
    program, file = named(steps, "CMD")[-1].argv()
    assert program == "python"
    assert file in copied(steps) and (ROOT / file).is_file()


def test_the_steps_make_the_image_s_folder(tmp_path: Path) -> None:
    context = tmp_path / "context"
    (context / "code" / "deep").mkdir(parents=True)
    (context / ".dockerignore").write_text("**/*.pyc\n")
    for name in ("code/a.py", "code/deep/b.py", "code/deep/b.pyc", "notes"):
        (context / name).write_text(name)
    build = build_in(tmp_path / "root", context, port=1234)
    carry_out(
        build,
        parse(
            "FROM x\nRUN useradd user && install -d -o user -g user /home/user/data\n"
            "WORKDIR /home/user/app\nENV PORT=7860 DATA=/home/user/data\nCOPY notes ./\n"
            'COPY code ./code\nRUN echo "$PORT" > "$DATA/port"\n'
            'HEALTHCHECK --timeout=1s CMD ["ask", "0.0.0.0:7860"]\nCMD ["start"]\n'
        ),
    )
    home = tmp_path / "root" / "home" / "user"
    made = sorted(p.relative_to(home).as_posix() for p in home.rglob("*") if p.is_file())
    assert made == ["app/code/a.py", "app/code/deep/b.py", "app/notes", "data/port"]
    assert (home / "data" / "port").read_text() == "1234\n"
    assert (build.health, build.command) == (["ask", "127.0.0.1:1234"], ["start"])


def test_only_root_installs_debian_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert left_out("apt-get update") != ""
    assert left_out("pip install x") == ""


# the Space


def header() -> dict[str, str]:
    """The lines between the first two rules of the README."""
    block = text("README.md").split("---\n")[1]
    lines = (line.partition(":") for line in block.splitlines() if line[:1].isalpha())
    return {key.strip(): value.strip().strip("\"'") for key, _, value in lines}


def test_a_space_starts_the_app() -> None:
    assert text("README.md").startswith("---\n")
    assert (header()["sdk"], header()["app_file"]) == ("gradio", "app.py")


def test_a_space_brings_a_gradio_that_is_in_the_range() -> None:
    assert ranges("requirements.txt", "gradio").contains(header()["sdk_version"])


def test_a_space_with_a_python_of_its_own_has_one_that_is_supported() -> None:
    version = ".".join(header().get("python_version", "3.12").split(".")[:2])
    assert version in ("3.10", "3.12")


def test_wordnet_is_installed_everywhere_from_one_list(steps: list[Step]) -> None:
    assert text("packages.txt").split() == ["wordnet-base"]
    assert "packages.txt" in copied(steps)
    assert any("$(cat packages.txt)" in step.text for step in named(steps, "RUN"))


@pytest.mark.parametrize("name", FILES)
def test_a_file_names_no_place_of_one_machine(name: str) -> None:
    assert str(ROOT) not in text(name)
    found = re.findall(r"file:|/root\b|/Users/|https?://(?!127\.0\.0\.1)\S+", text(name))
    assert found == []


def test_the_licence_is_whole() -> None:
    licence = text("LICENSE")
    assert "Version 2.0, January 2004" in licence
    assert [f"\n   {n}. " in licence for n in range(1, 10)] == [True] * 9
    assert "END OF TERMS AND CONDITIONS" in licence
    assert re.search(r"Copyright \d{4} The NLI Clinic authors", licence)


def test_the_workflow_runs_the_one_command_on_the_oldest_python_and_the_space_s() -> None:
    workflow = text(".github/workflows/test.yml")
    assert workflow.count("- run:") == 1
    assert "- run: make test-all\n" in workflow
    assert 'python: ["3.10", "3.12"]' in workflow
    assert PYTHONS[0] == "3.10"
    assert 'python_version: "3.12"' in text("README.md")

"""compose.yaml: what it names is there, and its processes compute together when started by hand."""

import re
import subprocess
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from gradio_client import Client

from tests.support.checkout import text
from tests.support.processes.compose import (
    Machine,
    command_of,
    compose,
    environment_of,
    image_environment,
    machine,
)
from tests.support.processes.compose import running as started
from tests.support.processes.dockerfile import Step, free_port, parse
from tests.support.processes.postgresql import programs, server

SERVICES: Mapping[str, dict[str, Any]] = compose()["services"]
OURS = {name: service for name, service in SERVICES.items() if service["image"] == "nli-clinic"}
MAX_SECONDS = 300
"""Until a service has to be healthy, or a run ended."""


def test_the_services_are_the_app_its_workers_and_a_database() -> None:
    assert list(SERVICES) == ["certificates", "database", "scheduler", "worker", "app"]
    assert SERVICES["worker"]["deploy"] == {"replicas": 2}
    assert set(OURS) == set(SERVICES) - {"database"}


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_has_keys_that_compose_knows(name: str) -> None:
    known = {
        *("image", "build", "command", "environment", "volumes", "ports", "depends_on"),
        *("healthcheck", "read_only", "tmpfs", "cap_drop", "security_opt", "restart", "deploy"),
        "network_mode",
    }
    assert set(SERVICES[name]) <= known
    assert set(SERVICES[name].get("depends_on", {})) <= set(SERVICES)


@pytest.mark.parametrize("name", SERVICES)
def test_a_root_is_read_only_and_its_volumes_are_declared(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert "/tmp" in service["tmpfs"]
    assert {volume.split(":")[0] for volume in service["volumes"]} <= set(compose()["volumes"])


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_that_stays_has_a_health_check(name: str) -> None:
    service = SERVICES[name]
    own = bool(service.get("healthcheck", {}).get("test"))
    of_the_image = name == "app" and any(step.name == "HEALTHCHECK" for step in dockerfile())
    assert own or of_the_image or service["restart"] == "no"


def test_who_depends_on_a_service_waits_for_its_health() -> None:
    conditions = {
        (name, other): each["condition"]
        for name, service in SERVICES.items()
        for other, each in service.get("depends_on", {}).items()
    }
    assert conditions == {
        ("scheduler", "certificates"): "service_completed_successfully",
        ("worker", "scheduler"): "service_healthy",
        ("app", "database"): "service_healthy",
        ("app", "scheduler"): "service_healthy",
    }


def test_all_that_the_image_writes_lies_in_the_volume_or_in_tmp() -> None:
    places = {name: value for name, value in image_environment().items() if value.startswith("/")}
    del places["HOME"]
    assert {"NLI_CLINIC_HOME", "HF_HOME", "GRADIO_TEMP_DIR", "MPLCONFIGDIR"} <= set(places)
    assert [n for n, v in places.items() if not v.startswith(("/home/user/data", "/tmp"))] == []


def test_each_certificate_is_one_that_the_command_makes() -> None:
    named = {Path(v).name for v in OURS["app"]["environment"].values() if "/certificates/" in v}
    assert named == {"ca.pem", "node.pem", "node.key"}


def test_each_variable_is_explained_at_the_top() -> None:
    whole = text("compose.yaml")
    head, _, body = whole.partition("name: nli-clinic")
    needed = set(re.findall(r"\$\{(\w+)(?::\?|:-)", body)) - {"CLINIC_WORKER_THREADS"}
    assert [name for name in needed if name not in head] == []


def dockerfile() -> list[Step]:
    return parse(text("Dockerfile"))


def wait_for_health(name: str, here: Machine) -> None:
    """Repeat the health check of a service until it succeeds."""
    (of_the_image,) = (step.argv() for step in dockerfile() if step.name == "HEALTHCHECK")
    asked = OURS[name].get("healthcheck", {}).get("test", ["CMD", *of_the_image])[1:]
    until = time.monotonic() + MAX_SECONDS
    while subprocess.run(command_of(asked, here), capture_output=True).returncode:
        assert time.monotonic() < until, f"{name} is not healthy"
        time.sleep(0.5)


@pytest.mark.slow
@pytest.mark.skipif(programs() is None, reason="there is no PostgreSQL on this machine")
def test_the_processes_inoculate_a_model_together(tmp_path: Path) -> None:
    variables = {"CLINIC_PASSWORD": "a-password"}
    with ExitStack() as stack:
        database = stack.enter_context(server("clinic", "a-password", "clinic"))
        here = machine(tmp_path / "machine", database)

        def run(name: str, number: int = 0) -> "subprocess.Popen[bytes]":
            local = replace(here, ports={**here.ports, "8788": free_port()}) if number else here
            environment = environment_of(OURS[name], local, variables)
            words = command_of(OURS[name]["command"], local)
            return stack.enter_context(
                started(words, environment, tmp_path / f"{name}{number}.log")
            )

        assert run("certificates").wait(MAX_SECONDS) == 0
        run("scheduler")
        wait_for_health("scheduler", here)
        run("worker")
        wait_for_health("worker", here)
        run("worker", 1)
        run("app")
        wait_for_health("app", here)
        client = Client(f"http://127.0.0.1:{here.ports['7860']}/", verbose=False)
        asked = client.predict(
            model="da", challenge="negation", sizes="5", lrs="1e-3", seeds="0", mode="fast",
            api_name="/inoculate",
        )  # fmt: skip
        run_id, owner = asked["run"], asked["owner"]
        until = time.monotonic() + MAX_SECONDS
        while time.monotonic() < until:
            found = client.predict(run_id, owner, api_name="/run")
            if found["state"] not in ("queued", "running"):
                break
            time.sleep(1)
        assert found["state"] == "done", found
    assert (tmp_path / "machine" / "written.log").read_text() == ""
    assert list((tmp_path / "machine" / "home" / "data").glob("*.sqlite*")) == []

"""How many processes compute."""

import pytest

from probe.errors import SettingsError
from probe.runs.cluster import worker_count


def test_the_number_of_processes_is_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLI_CLINIC_WORKERS", "3")
    assert worker_count() == 3


def test_without_a_setting_half_of_the_cores_compute_and_at_least_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NLI_CLINIC_WORKERS", raising=False)
    found = []
    for cores in (1, 2, 3, 8):
        monkeypatch.setattr("probe.runs.cluster.CPU_COUNT", cores)
        found.append(worker_count())
    assert found == [1, 1, 1, 4]


@pytest.mark.parametrize("wanted", ["0", "-1", "two", "1.5"])
def test_a_wrong_number_of_processes_is_refused(
    wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLI_CLINIC_WORKERS", wanted)
    with pytest.raises(SettingsError, match=f"NLI_CLINIC_WORKERS is '{wanted}'"):
        worker_count()

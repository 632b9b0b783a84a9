"""Settings: read from the environment, checked, documented, printed."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from probe.errors import SettingsError
from probe.runs.access import browser_secret
from probe.runs.models import save_model_files
from probe.runs.store import Store
from probe.settings import ASSETS, CHECKOUT, OTHERS, Settings, settings, table, variable
from probe.ui.visitors.visitor_files import fresh_folder
from tests.support.checkout import text
from tests.support.commands import answer, refusal, run


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment without settings of ours."""
    for name in (*map(variable, Settings.model_fields), "SPACE_ID", "GRADIO_SERVER_NAME"):
        monkeypatch.delenv(name, raising=False)


def test_the_table_of_the_reference_is_that_of_the_settings() -> None:
    assert f"\n\n{table()}\n" in text("docs/reference/settings.md")


def under(values: Mapping[str, str]) -> Settings:
    """Return the settings of an environment with these variables."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in values.items():
            patch.setenv(name, value)
        return settings()


def test_a_setting_is_read_when_it_is_needed_and_empty_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (settings().home, ASSETS) == (CHECKOUT / "var", CHECKOUT / "assets")
    monkeypatch.chdir(tmp_path)
    assert under({"NLI_CLINIC_HOME": "here"}).home == tmp_path / "here"
    for value, workers in {"3": 3, "": None}.items():
        assert under({"NLI_CLINIC_WORKERS": value}).workers == workers
    for name, value in {"NLI_CLINIC_WORKERS": "many", "NLI_CLINIC_STATES_MB": "0"}.items():
        with pytest.raises(SettingsError, match=f"^{name} is '{value}': "):
            under({name: value})


def test_the_limits_of_a_public_app_hold_where_strangers_reach_it() -> None:
    for name, value, public in [
        ("SPACE_ID", "me/space", True),
        ("GRADIO_SERVER_NAME", "0.0.0.0", True),
        ("GRADIO_SERVER_NAME", "127.0.0.1", False),
        ("NLI_CLINIC_PUBLIC", "yes", True),
    ]:
        found = under({name: value})
        assert found.public is public, (name, value)
        assert found.max_rows == (20_000 if public else None), (name, value)
        assert found.user_models == ({"hub"} if public else {"hub", "folder"}), (name, value)
        assert under({name: value, "NLI_CLINIC_MAX_ROWS": "7"}).max_rows == 7
        assert under({name: value, "NLI_CLINIC_OWN_MODELS": ""}).user_models == set()
    assert under({"NLI_CLINIC_OWN_MODELS": "folder , elsewhere"}).user_models == {"folder"}


def test_the_settings_in_force_are_printed_without_a_password_and_a_wrong_one_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in {
        "ENGINE": "tcp://scheduler:8786",
        "NLI_CLINIC_LOGIN": "ann:hunter2",
        "NLI_CLINIC_ADMIN_PASSWORD": "hunter3",
        "NLI_CLINIC_DATABASE": "postgresql://clinic:hunter4@db/clinic",
    }.items():
        monkeypatch.setenv(name, value)
    rows, lines = answer("settings"), run("settings").stdout.splitlines()
    assert list(rows) == [*map(variable, Settings.model_fields), "assets"]
    assert [line.split()[0] for line in lines] == list(rows)
    assert rows["ENGINE"] == "tcp://scheduler:8786"
    assert rows["NLI_CLINIC_MODEL_MB"] == 4096
    for printed in (str(rows), str(lines)):
        assert "hunter" not in printed
        assert "postgresql://clinic:***@db/clinic" in printed
    monkeypatch.setenv("NLI_CLINIC_WORKERS", "many")
    assert refusal("settings").startswith("NLI_CLINIC_WORKERS is 'many': ")


def test_what_the_app_keeps_is_for_its_own_account_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLI_CLINIC_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))
    (tmp_path / "home").mkdir(mode=0o755)  # by an earlier version
    Store()
    browser_secret()
    save_model_files({"config.json": b"{}"}, "kept")
    fresh_folder("")
    places = [tmp_path / "home", tmp_path / "gradio"]
    kept = [*places, *(path for place in places for path in place.rglob("*"))]
    kept = [path for path in kept if path.suffix != ".sqlite-shm"]  # which comes and goes
    open_to_others = [path for path in kept if path.stat().st_mode & OTHERS]
    # what lies in a closed folder may be open: no other account comes so far
    assert [path for path in open_to_others if path in places or path.is_file()] == []
    assert {path.name for path in kept} >= {"runs.sqlite", "browser-secret", "config.json"}

"""Settings: read from the environment, checked, documented, printed."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from probe.cli.main import app
from probe.errors import SettingsError
from probe.runs.access import browser_secret
from probe.runs.models import save_model_files
from probe.runs.store import Store
from probe.settings import ASSETS, CHECKOUT, OTHERS, Settings, settings, table, variable
from probe.ui.visitors.visitor_files import fresh_folder
from tests.support.checkout import text


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment without settings of ours."""
    for name in (*map(variable, Settings.model_fields), "SPACE_ID", "GRADIO_SERVER_NAME"):
        monkeypatch.delenv(name, raising=False)


def test_the_table_of_the_reference_is_that_of_the_settings() -> None:
    assert f"\n\n{table()}\n" in text("docs/reference/settings.md")


def test_in_a_checkout_home_and_assets_lie_beside_the_app() -> None:
    assert settings().home == CHECKOUT / "var"
    assert ASSETS == CHECKOUT / "assets"


def test_a_setting_is_read_when_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLI_CLINIC_WORKERS", "3")
    assert settings().workers == 3
    monkeypatch.setenv("NLI_CLINIC_WORKERS", "")
    assert settings().workers is None


def test_a_home_is_absolute_whatever_is_given(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NLI_CLINIC_HOME", "here")
    assert settings().home == tmp_path / "here"


@pytest.mark.parametrize(
    ("own", "space", "kinds"),
    [
        (None, None, {"hub", "folder"}),
        (None, "me/space", {"hub"}),
        ("", None, set()),
        ("", "me/space", set()),
        ("folder , elsewhere", None, {"folder"}),
    ],
)
def test_which_models_people_may_bring(
    own: str | None, space: str | None, kinds: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("NLI_CLINIC_OWN_MODELS", own), ("SPACE_ID", space)):
        if value is not None:
            monkeypatch.setenv(name, value)
    assert settings().user_models == kinds


@pytest.mark.parametrize(
    ("name", "value", "public"),
    [
        ("SPACE_ID", "me/space", True),
        ("GRADIO_SERVER_NAME", "0.0.0.0", True),
        ("GRADIO_SERVER_NAME", "127.0.0.1", False),
        ("NLI_CLINIC_PUBLIC", "yes", True),
    ],
)
def test_the_limits_of_a_public_app_hold_where_strangers_reach_it(
    name: str, value: str, public: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    assert settings().public is public
    assert settings().max_rows == (20_000 if public else None)
    assert settings().user_models == ({"hub"} if public else {"hub", "folder"})


def test_a_limit_of_ones_own_holds_public_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLI_CLINIC_MAX_ROWS", "7")
    assert settings().max_rows == 7


@pytest.mark.parametrize(
    ("name", "value"), [("NLI_CLINIC_WORKERS", "many"), ("NLI_CLINIC_STATES_MB", "0")]
)
def test_a_wrong_value_names_its_variable(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=f"^{name} is '{value}': "):
        settings()


# the command


def test_the_settings_in_force_are_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGINE", "tcp://scheduler:8786")
    rows = json.loads(CliRunner().invoke(app, ["settings", "--json"]).stdout)
    assert list(rows) == [*map(variable, Settings.model_fields), "assets"]
    assert rows["ENGINE"] == "tcp://scheduler:8786"
    assert rows["NLI_CLINIC_MODEL_MB"] == 4096
    lines = CliRunner().invoke(app, ["settings"]).stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(rows)


def test_a_password_is_not_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLI_CLINIC_DATABASE", "postgresql+psycopg://clinic:secret@db/clinic")
    printed = CliRunner().invoke(app, ["settings"]).stdout
    assert "postgresql+psycopg://clinic:***@db/clinic" in printed
    assert "secret" not in printed


def test_a_wrong_setting_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLI_CLINIC_WORKERS", "many")
    ended = CliRunner().invoke(app, ["settings"])
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert ended.stderr.startswith("error: NLI_CLINIC_WORKERS is 'many': ")


def test_no_password_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLI_CLINIC_LOGIN", "ann:hunter2")
    monkeypatch.setenv("NLI_CLINIC_ADMIN_PASSWORD", "hunter3")
    monkeypatch.setenv("NLI_CLINIC_DATABASE", "postgresql://clinic:hunter4@db/clinic")
    for arguments in (["settings"], ["settings", "--json"]):
        printed = CliRunner().invoke(app, arguments)
        assert printed.exit_code == 0
        assert "NLI_CLINIC_ADMIN_PASSWORD" in printed.output
        assert "hunter" not in printed.output


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
    open_to_others = [path for path in kept if path.stat().st_mode & OTHERS]
    # what lies in a closed folder may be open: no other account comes so far
    assert [path for path in open_to_others if path in places or path.is_file()] == []
    assert {path.name for path in kept} >= {"runs.sqlite", "browser-secret", "config.json"}

"""The sections on repairs and generalisation, as they are pasted into BENCHMARKS.md."""

from dataclasses import replace
from pathlib import Path

from benchmarks import repairs
from benchmarks.figures import OLDER, current, tables
from benchmarks.repairs import RUNS, TEXTS, missing, sections, weights_line
from probe.models.bundled import BUNDLED
from probe.runs.gallery import gallery_runs, write
from probe.runs.models import named_model_hash
from tests.support.commands import call
from tests.support.runs.clean_source import clean_source, write_clean
from tests.support.runs.generalisation import make_points, stored_run
from tests.support.runs.repairs import calibration_run, mitigation_run, transfer_run

MATRIX = [(294, 180, 132), (285, 285, 285), (285, 285, 285)]


def test_every_table_names_its_weights_and_the_command(tmp_path: Path) -> None:
    artefacts = {"model": named_model_hash("minilm")}
    runs = [
        calibration_run(artefacts=artefacts),
        mitigation_run(artefacts=artefacts),
        transfer_run(artefacts=artefacts),
        replace(stored_run(make_points(MATRIX)), artefacts=artefacts),
    ]
    file = tmp_path / "BENCHMARKS.md"
    file.write_text("\n\n".join(sections(runs)) + "\n", encoding="utf-8")
    found = list(tables(file))
    assert len(found) == 5 + 2
    assert {table.commands[-1] for table in found} == {"python -m benchmarks.repairs"}
    assert all(table.weights == {"minilm": current("minilm")} for table in found)
    assert not any(table.stale for table in found)
    assert max(map(len, file.read_text().replace("|", "\n").splitlines())) <= repairs.WIDTH


def test_models_whose_texts_are_not_here_have_commands_of_their_own(tmp_path: Path) -> None:
    file = tmp_path / "BENCHMARKS.md"
    file.write_text("\n\n".join(sections([mitigation_run()])) + "\n", encoding="utf-8")
    *own, last = next(tables(file)).commands
    assert last == "python -m benchmarks.repairs"
    assert own[0] == (
        "python -m finetune mitigate --model minilm_qqp --mode full --seeds 0 "
        "--original qqp_dev_1500.jsonl --pool qqp_train_2000.jsonl "
        "--gallery assets/gallery --out mitigation/minilm_qqp"
    )
    assert [command.split()[3:6:2] for command in own] == [
        [command, model] for model in TEXTS for command in ("mitigate", "transfer")
    ]


def test_a_table_of_other_weights_says_so() -> None:
    assert weights_line({"minilm": named_model_hash("minilm")}) == (
        f"Weights: minilm {current('minilm')}"
    )
    assert weights_line({"minilm": "ab12"}).endswith(OLDER)
    assert weights_line({"gone": "ab12"}) == f"Weights: none {OLDER}"


def test_what_is_missing_or_of_other_weights_is_computed(tmp_path: Path) -> None:
    everything = [run.name for run in RUNS]
    assert [run.name for run in missing(tmp_path)] == everything
    write(tmp_path, "minilm-calibration", calibration_run(artefacts={"model": "ab12"}))
    assert [run.name for run in missing(tmp_path)] == everything
    shipped = {"model": named_model_hash("minilm")}
    write(tmp_path, "minilm-calibration", calibration_run(artefacts=shipped))
    assert [run.name for run in missing(tmp_path)] == everything[1:]


def test_the_runs_are_of_shipped_models_and_named_as_the_commands_name_them() -> None:
    assert {run.model for run in RUNS} <= set(BUNDLED) - set(TEXTS)
    kinds = {run.name.removeprefix(f"{run.model}-") for run in RUNS}
    assert kinds == {
        "calibration", "mitigation", "transfer", "dative-complexity", "dative-lexical",
        "numerical-complexity", "numerical-lexical", "numerical-range",
    }  # fmt: skip
    assert all(run.words[1:3] == ("--model", run.model) for run in RUNS)


def test_small_runs_of_the_commands_make_every_table_of_repairs(home: Path, model: str) -> None:
    gallery = home / "gallery"
    common = [
        "--model", model, "--sizes", "12", "--seeds", "0", "--tests", "3", "--epochs", "1",
        "--gallery", gallery, "--in-process", *write_clean(clean_source(), home),
    ]  # fmt: skip
    for command, words in {
        "calibrate": (), "mitigate": (), "transfer": ("--transforms", "sort,drop"),
    }.items():  # fmt: skip
        result = call(command, *common, "--out", home / command, *words)
        assert result.exit_code == 0, result.output
    (text,) = sections(gallery_runs(gallery))
    name = Path(model).name
    (home / "FIGURES.md").write_text(text + "\n", encoding="utf-8")
    assert len(list(tables(home / "FIGURES.md"))) == 5
    assert text.count(f"| `{name}` | Focal loss | 12 |") == 1  # table 8: all 12 test pairs
    assert f"`{name}`: share found invalid" in " ".join(text.split())

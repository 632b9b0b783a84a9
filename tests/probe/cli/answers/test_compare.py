"""`python -m probe compare`."""

from pathlib import Path

from tests.support.commands import refusal, run

PAIR = ["--premise", "A man walks.", "--hypothesis", "He moves."]


def test_options_of_a_file_and_of_a_pair_do_not_mix() -> None:
    for words, said in [
        (["in.csv", "--answer", "neutral"], "--answer is the label of a pair; "),
        ([*PAIR, "--label-value", "1=e"], "--label-value is for a file; name one"),
        ([*PAIR, "--columns", "a,b"], "--columns is for a file; name one"),
        ([*PAIR, "--out", "o.csv"], "--summary and --out are for a file; name one"),
        (["in.csv", *PAIR], "give a file, or --premise and --hypothesis (or --text), not both"),
    ]:
        assert refusal("compare", *words, "--model", "one", "--model", "two").startswith(said), (
            words,
            said,
        )


def test_a_label_that_is_not_known_is_asked_about(model: str, tmp_path: Path) -> None:
    source = tmp_path / "in.csv"
    source.write_text("premise,hypothesis,label\nA man walks.,He moves.,oui\n")
    words = ("compare", str(source), "--model", model, "--model", "da")
    assert "--label-value oui=LABEL" in refusal(*words)
    ended = run(*words, "--label-value", "oui=entailment")
    assert ended.stdout.startswith("1 of 1 rows scored")


def test_a_form_that_cannot_hold_the_file_is_refused_before_it_is_compared(
    model: str, tmp_path: Path
) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.parquet"
    row = '{{"premise": "A man walks.", "hypothesis": "He moves.", "label": "neutral", "n": {}}}\n'
    source.write_text(row.format(1) + row.format('"x"'))
    words = ["--model", model, "--model", "da", "--out", str(out)]
    assert refusal("compare", str(source), *words).startswith("out.parquet: Parquet cannot hold ")
    assert not out.exists()


def test_what_a_model_does_not_read_is_said_of_the_model_by_its_name(tmp_path: Path) -> None:
    source = tmp_path / "in.csv"
    source.write_text(f"premise,hypothesis,label\nA man walks.,He moves{' on' * 600}.,neutral\n")
    ended = run("compare", str(source), "--model", "da", "--model", "minilm")
    cut = [line for line in ended.stderr.splitlines() if "longer than what" in line]
    assert cut == [
        f"note: 1 of 1 row is longer than what {name} reads, so that the end is cut."
        for name in ("da", "minilm")
    ]

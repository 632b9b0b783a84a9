"""Side by side with what people would take instead: seconds of the processor, and the answers.

    python -m benchmarks.peers [MEASURE]... [--rounds 3] [--cache FOLDER]

The same model, rows and machine, one thread each, in turn within each round. A ratio is that of
others to this project, so that above 1 this project is quicker: the median of the rounds, and
behind it the lowest and the highest. Every peer is installed by pip, in the versions below, into an
environment of its own in a folder that is kept; what it shares with this project is taken from
here. One that cannot be installed is named.
"""

import csv
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import venv
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import correlation, mean, median
from typing import Annotated, Any

import typer

from benchmarks.page.app_process import ROOT
from benchmarks.page.start import start, time_app, time_gradio
from probe.models.classifier import fast_bf16
from probe.models.library import find, load
from probe.tasks.examples import bundled_examples
from probe.tasks.nli import NLI

MODEL = "minilm"
PEERS: Mapping[str, Sequence[str]] = {
    "interpreto": ("interpreto==0.5.2",),
    "ferret": ("ferret-xai==0.4.2", "pyarrow==20.0.0"),
    "transformers-interpret": ("transformers-interpret==0.10.0", "transformers==4.57.6"),
    "nlpaug": ("nlpaug==1.1.11",),
}
"""What is installed of each; Captum, pandas and transformers' pipeline are this project's own."""
SHARED = ("torch", "transformers", "captum", "pandas", "gradio")
"""The distributions whose versions are told of each environment."""
EQUAL = 1e-4
"""The largest difference of two scores that count as equal."""
DIFFERENCES = {
    "interpreto": "gradients are sizes without a sign, a token is replaced by one of its own",
    "ferret": "explains the logit of one text in which a separator joins the pair",
    "transformers-interpret": "explains the probability, and scales the scores of a text",
    "nlpaug": "swaps neighbours, misspells by a list, drops at random; looks up every word",
}
"""In what a peer's answers are others."""
SCRIPT = """
import sys, pandas
from transformers import pipeline
source, out, model = sys.argv[1:]
frame = pandas.read_csv(source)
pipe = pipeline("text-classification", model=model, device="cpu")
pairs = zip(frame.premise, frame.hypothesis)
answers = pipe([{"text": a, "text_pair": b} for a, b in pairs], batch_size=32)
frame["prediction"] = [answer["label"] for answer in answers]
frame.to_csv(out, index=False)
"""
"""What a user of pandas and the pipeline writes to score a file."""


@dataclass(frozen=True)
class Measure:
    """What is measured of how many rows, and beside whom."""

    kind: str
    name: str
    n: int
    peers: tuple[str, ...]


METHODS = ("interpreto", "ferret", "transformers-interpret")
MEASURES: Mapping[str, Measure] = {
    "fp32": Measure("score", "fp32", 300, ("pandas",)),
    **({"bf16": Measure("score", "bf16", 300, ("pandas",))} if fast_bf16() else {}),
    "gradient_x_input": Measure("explain", "gradient_x_input", 48, ("captum", *METHODS[:2])),
    "integrated_gradients": Measure("explain", "integrated_gradients", 8, ("captum", *METHODS)),
    "occlusion": Measure("explain", "occlusion", 8, ("captum", "interpreto")),
    **{
        name: Measure("transform", name, 150, ("nlpaug",))
        for name in ("shuffle", "misspell", "drop", "synonyms", "antonyms")
    },
}
TITLES = {"score": "batch", "explain": "importance", "transform": "transform"}


def python_of(peer: str, cache: Path) -> Path:
    """Return the Python of a peer's environment, made where it is not there.

    Raises CalledProcessError where pip cannot install it.
    """
    if peer not in PEERS:
        return Path(sys.executable)
    folder, wanted = cache / peer, "\n".join(PEERS[peer])
    python, stamp = folder / "bin" / "python", folder / "installed.txt"
    if not stamp.is_file() or stamp.read_text() != wanted:
        venv.create(folder, with_pip=True, clear=True)
        asked = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
        site = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
        own = sysconfig.get_path("purelib")
        (Path(site) / "shared.pth").write_text(f"{own}\n")  # its own packages come before ours
        pip = [python, "-m", "pip", "install", "-q", "--no-warn-conflicts", *PEERS[peer]]
        subprocess.run(pip, check=True, capture_output=True, text=True)
        stamp.write_text(wanted)
    return python


def versions(python: Path, peer: str) -> str:
    """Say which versions an environment has."""
    names = [*(each.partition("==")[0] for each in PEERS.get(peer, ())), *SHARED]
    code = "import sys; from importlib.metadata import version\n" + (
        "print(', '.join(f'{name} {version(name)}' for name in sys.argv[1:]))"
    )
    asked = [python, "-c", code, *dict.fromkeys(names)]
    return subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()


@contextmanager
def contestant(name: str, python: Path) -> Iterator[subprocess.Popen[str]]:
    """Start a contestant, which waits for jobs."""
    words = [str(python), str(ROOT / "benchmarks" / "peers" / "contestants.py"), name]
    process = subprocess.Popen(
        [*words, str(find(MODEL))], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def asked(process: subprocess.Popen[str], job: Mapping[str, Any]) -> dict[str, Any]:  # Any: JSON
    """Let a contestant do a job once."""
    assert process.stdin and process.stdout
    process.stdin.write(json.dumps(job) + "\n")
    process.stdin.flush()
    answer = process.stdout.readline()
    return dict(json.loads(answer)) if answer else {"problem": "the process has ended"}


def told(ratios: Sequence[float]) -> str:
    """Say a ratio with its spread."""
    return f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def compared(kind: str, peer: str, mine: Sequence[Any], theirs: Sequence[Any]) -> str:
    """Say how far two answers are the same; Any: scores of each row, or a text."""
    if kind == "explain":
        if any(len(a) != len(b) for a, b in zip(mine, theirs, strict=True)):
            return f"of other tokens; {DIFFERENCES[peer]}"
        pairs = [each for a, b in zip(mine, theirs, strict=True) for each in zip(a, b, strict=True)]
        apart = max(abs(a - b) for a, b in pairs)
        if apart <= EQUAL:
            return f"equal (at most {apart:.0e} apart)"
        alike = mean(correlation(a, b) for a, b in zip(mine, theirs, strict=True))
        return f"correlated by {alike:.2f}; {DIFFERENCES[peer]}"
    same = sum(a == b for a, b in zip(mine, theirs, strict=True))
    return f"{same} of {len(mine)} the same" + (f"; {DIFFERENCES[peer]}" if peer in PEERS else "")


def rows(measure: Measure, pythons: Mapping[str, Path], rounds: int, folder: Path) -> Iterator[str]:
    """Measure, and yield a table's row for each peer."""
    bundled = bundled_examples(NLI, "test")

    def job(number: int) -> dict[str, Any]:
        """Return the job of a round: words that a change has seen are known, so that it has others.

        Else all rounds have the same rows.
        """
        first = number * measure.n % len(bundled) if measure.kind == "transform" else 0
        several = bundled[first : first + measure.n]
        return {
            "kind": measure.kind,
            "name": measure.name,
            "pairs": [[each.premise, each.hypothesis] for each in several],
            "labels": [each.gold for each in several],
            "file": str(folder / f"{measure.n}.csv"),
        }

    write_pairs(folder / f"{measure.n}.csv", measure.n)
    examples, model = bundled[: measure.n], load(MODEL)
    tokens = mean(model.token_rows(examples).lengths)
    about = f"{TITLES[measure.kind]}: {measure.name} | {measure.n}, {tokens:.0f} tokens"
    with ExitStack() as stack:
        names = ["ours", *(name for name in measure.peers if name in pythons)]
        processes = {name: stack.enter_context(contestant(name, pythons[name])) for name in names}
        replies: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
        for number in range(rounds + 1):  # the first loads what is loaded once
            for name, process in processes.items():
                out = str(folder / f"{name}.csv")
                replies[name].append(asked(process, {**job(number), "out": out}))
    mine = replies["ours"][1:]
    for peer in measure.peers:
        if peer not in pythons:
            yield f"{about} | {peer} | – | – | – | could not be installed"
        elif problem := next((each for each in replies[peer] if "seconds" not in each), None):
            why = problem.get("problem", "it has no such method")
            yield f"{about} | {peer} | – | – | – | {why:.200}"
        else:
            theirs = replies[peer][1:]
            ratios = [b["seconds"] / a["seconds"] for a, b in zip(mine, theirs, strict=True)]
            each = (median(one["seconds"] for one in several) for several in (mine, theirs))
            same = compared(measure.kind, peer, mine[0]["found"], theirs[0]["found"])
            seconds = " | ".join(f"{one:.3g}" for one in each)
            yield f"{about} | {peer} | {seconds} | {told(ratios)} | {same}"


def write_pairs(path: Path, n: int) -> Path:
    """Write a file of the bundled pairs."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["premise", "hypothesis", "label"])
        for pair in bundled_examples(NLI, "test")[:n]:
            writer.writerow([pair.premise, pair.hypothesis, pair.gold])
    return path


def seconds_of(words: Sequence[str]) -> float:
    """Return the processor's seconds of a whole process of Python."""
    usage = os.wait4(start(words, ROOT).pid, 0)[2]
    return usage.ru_utime + usage.ru_stime


def starts(rounds: int, folder: Path, port: int) -> Iterator[str]:
    """Measure whole processes beside those that stand for them, and yield their rows."""
    ten, model = str(write_pairs(folder / "10.csv", 10)), str(find(MODEL))
    pandas = ["-c", SCRIPT, ten, str(folder / "theirs.csv"), model]
    batch = ["-m", "probe", "batch", ten, "--out", str(folder / "ours.csv"), "--model", MODEL]
    contests: dict[str, tuple[str, Callable[[], float], Callable[[], float]]] = {
        "batch on ten rows, whole process": (
            "pandas", lambda: seconds_of(batch), lambda: seconds_of(pandas),
        ),
        "`probe --help`": (
            "import gradio", lambda: seconds_of(["-m", "probe", "--help"]),
            lambda: time_gradio(ROOT)[1],
        ),
        "app to its first page": (
            "import gradio", lambda: time_app(ROOT, port)[1], lambda: time_gradio(ROOT)[1],
        ),
    }  # fmt: skip
    for about, (peer, ours, theirs) in contests.items():
        times = [(ours(), theirs()) for _ in range(rounds + 1)][1:]
        seconds = " | ".join(f"{median(column):.3g}" for column in zip(*times, strict=True))
        yield f"{about} | – | {peer} | {seconds} | {told([b / a for a, b in times])} | –"


def main(
    measures: Annotated[
        list[str] | None,
        typer.Argument(help=f"Of {', '.join(MEASURES)} and start; all if none."),
    ] = None,
    rounds: Annotated[int, typer.Option(help="Behind a first one that is not counted.")] = 3,
    cache: Annotated[Path, typer.Option(help="Where environments are kept.")] = Path(
        "~/.cache/nli-clinic/peers"
    ),
    port: int = 7899,
) -> None:
    """Print the table."""
    chosen = measures or [*MEASURES, "start"]
    wanted = {peer for name in chosen if name in MEASURES for peer in MEASURES[name].peers}
    pythons: dict[str, Path] = {}
    for peer in ("ours", *sorted(wanted)):
        try:
            pythons[peer] = python_of(peer, cache.expanduser())
            typer.echo(f"{peer}: {versions(pythons[peer], peer)}")
        except subprocess.CalledProcessError as problem:
            typer.echo(f"{peer} cannot be installed: {str(problem.stderr).strip()[-300:]}")
    typer.echo(f"\n{MODEL}, {rounds} rounds in turn, load {os.getloadavg()[0]:.1f} before\n")
    typer.echo("| measure | n | beside | ours, s | theirs, s | ratio | their answers |")
    typer.echo("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen:
            if name == "start":
                made = starts(rounds, Path(folder), port)
            else:
                made = rows(MEASURES[name], pythons, rounds, Path(folder))
            for row in made:
                typer.echo(f"| {row} |")
    typer.echo(f"\nload {os.getloadavg()[0]:.1f} behind")


if __name__ == "__main__":
    typer.run(main)

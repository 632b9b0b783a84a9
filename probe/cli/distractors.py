"""`python -m probe distractors`: raw AddSent sentences for the questions of a file."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from probe.addsent.statements import Distractor, distractor, insert
from probe.cli.file_options import OR_HUB, local_file
from probe.cli.output import check_output_files
from probe.data.questions import read_questions
from probe.data.source import form_of
from probe.data.writers import in_place
from probe.errors import writing
from probe.tasks.reading import Question
from probe.text.words import tokenise

MOST_FREQUENT = 10
"""How many fake answers are printed."""


def distractors_command(
    file: Annotated[Path, typer.Argument(help=f"SQuAD's JSON, or a table, {OR_HUB}.")],
    out: Annotated[Path, typer.Option(help="JSON lines: the questions with their new passages.")],
    place: Annotated[
        int | None, typer.Option(min=0, help="Before which sentence; 0 is first, none the end.")
    ] = None,
    second: Annotated[bool, typer.Option(help="Take the fake answers of the second list.")] = False,
) -> None:
    """Add a sentence to each passage that seems to answer the question (Jia and Liang 2017).

    Raw AddSent: no person has repaired or checked a sentence. A question no word of which can be
    altered has none and is left out.
    """
    check_output_files([file], [out])
    form_of(out, ("jsonl",))
    made = list[tuple[Question, Distractor]]()
    total = 0
    with (
        in_place(out) as fresh,
        writing(out),
        fresh.open("w", encoding="utf-8", newline="\n") as lines,
    ):
        for question in read_questions(local_file(file)):
            total += 1
            if found := distractor(question, second):
                made.append((question, found))
                asked = insert(question, found.sentence, place)
                altered = [[each.old, each.new, each.rule] for each in found.alterations]
                row = {
                    "id": f"{asked.id}-raw",
                    "base_id": asked.id,
                    "context": asked.passage,
                    "question": asked.question,
                    "answers": [{"text": each.text, "start": each.start} for each in asked.answers],
                    "adversarial": True,
                    "sentence": found.sentence,
                    "fake_answer": found.fake.text,
                    "rules": {
                        "fake_answer": found.fake.rule,
                        "statement": found.pattern,
                        "altered": altered,
                    },
                }
                lines.write(json.dumps(row, ensure_ascii=False) + "\n")
    typer.echo(_figures(made, total))


def _figures(made: Sequence[tuple[Question, Distractor]], total: int) -> str:
    """Say how many questions have a sentence, how long they are and what they repeat."""
    share = f"{len(made):,} of {total:,} questions have a sentence"
    if not made:
        return share
    words = [tokenise(found.sentence) for _, found in made]
    length = sum(len(found.sentence.split()) for _, found in made) / len(made)
    repeated = [
        len(asked & {word.lower() for word in said}) / len(asked)
        for (question, _), said in zip(made, words, strict=True)
        if (asked := {word.lower() for word in tokenise(question.question)})
    ]
    fakes = Counter(found.fake.text for _, found in made).most_common(MOST_FREQUENT)
    named = ", ".join(f"{text} {100 * count / len(made):.1f} %" for text, count in fakes)
    return (
        f"{share} ({100 * len(made) / total:.1f} %)\n"
        f"{length:.1f} words each; they repeat {100 * sum(repeated) / len(repeated):.0f} % of the "
        f"words of their question\nfake answers: {named}"
    )

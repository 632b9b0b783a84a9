"""A few examples of each task to begin with, by what they show."""

from collections.abc import Mapping
from typing import Any

from probe.tasks.nli import CONTRADICTION, ENTAILMENT, NEUTRAL, NLI, Pair
from probe.tasks.paraphrase import (
    NON_PARAPHRASE,
    PARAPHRASE,
    PARAPHRASE_IDENTIFICATION,
    TextPair,
)
from probe.tasks.reading import READING, Question
from probe.tasks.sentiment import NEGATIVE, POSITIVE, SENTIMENT, Review
from probe.tasks.task import Task

EXAMPLES: Mapping[str, Mapping[str, Any]] = {  # Any: of the task's own dataclass
    NLI.name: {
        "An opposite": Pair(
            "The country's history has been turbulent, with three constitutions in ten years.",
            "The country has had a calm and settled history.",
            CONTRADICTION,
        ),
        "A paraphrase": Pair(
            "Two of the buyers stayed behind after the talk to ask for the slides.",
            "Some of the buyers asked for the slides.",
            ENTAILMENT,
        ),
        "A new detail": Pair(
            "A woman in a red coat is waiting at the tram stop with two suitcases.",
            "The woman is on her way to the airport.",
            NEUTRAL,
        ),
        "Same words, other roles": Pair(
            "The lawyer who advised the mayor thanked the doctor.",
            "The mayor thanked the doctor.",
            NEUTRAL,
        ),
        "A negation": Pair(
            "The clinic opens at eight, and the first patients are usually there before that.",
            "Nobody comes to the clinic before eight.",
            CONTRADICTION,
        ),
        "A number": Pair(
            "The bakery sold 340 loaves on Saturday, twice as many as on Friday.",
            "Fewer than 200 loaves were sold on Friday.",
            ENTAILMENT,
        ),
    },
    PARAPHRASE_IDENTIFICATION.name: {
        "Other words": TextPair(
            "How can I get rid of the ants in my kitchen?",
            "What is the best way to drive ants out of the kitchen?",
            PARAPHRASE,
        ),
        "Same words, other roles": TextPair(
            "Can a tenant take a landlord to court over noise?",
            "Can a landlord take a tenant to court over noise?",
            NON_PARAPHRASE,
        ),
        "One word apart": TextPair(
            "How long does it take to learn to play a violin?",
            "How long does it take to learn to build a violin?",
            NON_PARAPHRASE,
        ),
        "The same event": TextPair(
            "The museum closed its north wing on Monday after a pipe burst.",
            "A burst pipe forced the museum to shut its north wing on Monday.",
            PARAPHRASE,
        ),
        "Another question": TextPair(
            "Why do cats purr when you stroke them?",
            "Why do cats scratch when you stroke them?",
            NON_PARAPHRASE,
        ),
    },
    SENTIMENT.name: {
        "Plain praise": Review(
            "The staff were kind, the room was quiet and breakfast was worth getting up for.",
            POSITIVE,
        ),
        "Plain blame": Review(
            "The heating never worked, and nobody at the desk seemed to care.", NEGATIVE
        ),
        "Praise by denial": Review("I could not find one dull page in the whole novel.", POSITIVE),
        "Two minds": Review(
            "The songs are lovely, but the story falls apart long before the end.", NEGATIVE
        ),
        "Irony": Review("What a treat: two hours in a queue for one cold sandwich.", NEGATIVE),
    },
    READING.name: {
        "The lighthouse keeper": Question(
            "Who lit the lamp on the northern pier?",
            "The harbour had two lights. Each evening Marta Keel walked to the northern pier and "
            "lit the lamp there, while her brother saw to the southern one. In storms the two "
            "were often left burning through the day.",
            "Marta Keel",
        ),
        "The two bridges": Question(
            "When was the stone bridge opened?",
            "Two bridges cross the river at Alder. The stone bridge was opened in 1887, after "
            "nine years of work. The iron one upstream is younger: it was finished in 1924, and "
            "only trains use it.",
            "1887 | in 1887",
        ),
        "How many?": Question(
            "How many apples did the younger sister pick?",
            "The sisters spent the whole of Saturday in the orchard. Ines, who is twelve, picked "
            "140 apples before lunch. Her younger sister Lea picked 65 and gave ten of them to "
            "the horse.",
            "65",
        ),
        "A reason": Question(
            "Why did the night train stop at Holm?",
            "The night train does not usually stop between Brun and the coast. On Tuesday it "
            "waited at Holm for almost an hour because a tree had fallen on the line. The "
            "passengers were given tea by the people of the village.",
            "a tree had fallen on the line | because a tree had fallen on the line",
        ),
    },
}
"""By task and title; all written for this page."""


def examples_of(task: Task) -> Mapping[str, Any]:  # Any: as above
    """Return the examples of a task by title."""
    return EXAMPLES[task.name]

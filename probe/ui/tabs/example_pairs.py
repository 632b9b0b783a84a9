"""A few pairs to begin with, by what they show."""

EXAMPLES = {
    "an opposite": (
        "The country's history has been turbulent, with three constitutions in ten years.",
        "The country has had a calm and settled history.",
    ),
    "a paraphrase": (
        "Two of the buyers stayed behind after the talk to ask for the slides.",
        "Some of the buyers asked for the slides.",
    ),
    "a new detail": (
        "A woman in a red coat is waiting at the tram stop with two suitcases.",
        "The woman is on her way to the airport.",
    ),
    "same words, other roles": (
        "The lawyer who advised the mayor thanked the doctor.",
        "The mayor thanked the doctor.",
    ),
}

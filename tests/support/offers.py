"""Which task is offered what: transforms, their options, challenges; tests walk the app by it."""

from collections.abc import Mapping

NLI_ALONE, PAIRS, READING = ("nli",), ("nli", "paraphrase"), ("reading",)
LABELLED = ("nli", "paraphrase", "sentiment")
EVERY = (*LABELLED, *READING)
Offers = Mapping[str, tuple[str, ...]]

TRANSFORMS: Offers = {
    **dict.fromkeys(("sort", "reverse", "shuffle", "drop", "repeat", "replace"), EVERY),
    "pbsmt": LABELLED,
    **dict.fromkeys(("addsent", "addsent_first", "addsent_other"), READING),
    **dict.fromkeys(("copysort", "copyone", "length_mismatch"), PAIRS),
    **dict.fromkeys(("word_overlap", "negation", "control_tautology"), EVERY),
    **dict.fromkeys(("spelling", "spelling_swap", "spelling_keyboard"), EVERY),
    **dict.fromkeys(("pbsmt_e", "pbsmt_n", "pbsmt_c", "antonym", "numerical"), NLI_ALONE),
    **dict.fromkeys(("shuffleboth", "shuffleprem", "premsubseq"), NLI_ALONE),
    **dict.fromkeys(("neghyp", "negprem", "negprem_hyp"), NLI_ALONE),
    **{
        f"h{word}{kind}": NLI_ALONE
        for word in ("verb", "noun", "adv", "adj")
        for kind in ("syn", "ant")
    },
}
OPTIONS: Offers = {
    **dict.fromkeys(("keep", "sign", "ranks", "by_id", "draw"), EVERY),
    "side": PAIRS,
    **dict.fromkeys(("pin", "tautology", "spelling"), EVERY),
    **dict.fromkeys(("other_languages", "draws"), EVERY),
    **dict.fromkeys(("lm_weight", "distortion_weight", "distortion_limit"), LABELLED),
    "keep_first_half": ("sentiment",),
    **dict.fromkeys(("subsequence", "antonym", "number"), NLI_ALONE),
    **dict.fromkeys(("substitution", "replacements", "senses", "inflect"), NLI_ALONE),
    "look_alike": READING,
}
SET_OPTIONS: Offers = {f"set {name}": tasks for name, tasks in OPTIONS.items()}
"""The options under names that no transform has."""
CHALLENGES: Offers = {
    **{
        name: tasks
        for name, tasks in TRANSFORMS.items()
        if name.startswith(("spelling", "word_overlap", "negation", "length", "control", "addsent"))
    },
    **dict.fromkeys(("templates_dative", "templates_numerical", "templates_hans"), NLI_ALONE),
    "templates_word_order": ("paraphrase",),
}
TEMPLATES: Offers = {
    **dict.fromkeys(("dative", "numerical", "hans"), NLI_ALONE),
    "word_order": ("paraphrase",),
}
SLICES: Offers = {
    "lexical overlap": PAIRS,
    **dict.fromkeys(("negation", "length"), LABELLED),
    "HANS heuristic": NLI_ALONE,
    **dict.fromkeys(("question word", "answer type"), READING),
}
LESSONS: Offers = {
    "word_salad": LABELLED,
    **dict.fromkeys(
        ("heuristics", "inoculate", "generalise", "attribution", "artefacts"), NLI_ALONE
    ),
    "look_alikes": READING,
}
VIEWS: Mapping[str, Offers] = {
    "lessons": LESSONS,
    "probe": {**TRANSFORMS, **SET_OPTIONS, "swap": PAIRS},
    "score": {**TRANSFORMS, **SET_OPTIONS, "pairs from templates": PAIRS},
    "compare": SLICES,
    "people": {**dict.fromkeys(("valid", "labels", "fool"), LABELLED), "distractor": READING},
    "inoculate": CHALLENGES,
    "repair": {
        **dict.fromkeys(
            ("sort", "reverse", "shuffle", "drop", "repeat", "replace", "pbsmt"), LABELLED
        ),
        **dict.fromkeys(("copysort", "copyone"), PAIRS),
    },
    "generalise": {**dict.fromkeys(("numerical", "dative"), NLI_ALONE), "file": LABELLED},
    "look-up": {**TRANSFORMS, "templates": PAIRS, "rules": NLI_ALONE},
}
"""What each view offers for which tasks."""

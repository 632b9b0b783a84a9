"""`python -m probe transforms`."""

from probe.tasks.nli import NLI
from probe.transforms import REGISTRY
from probe.transforms.options import OPTIONS
from tests.support.commands import answer, run


def of_nli() -> list[str]:
    """Return the names of the transforms of inference."""
    return [name for name, entry in REGISTRY.items() if entry.suits(NLI)]


def test_transforms_are_listed_with_their_facts() -> None:
    rows = answer("transforms")
    assert [row["name"] for row in rows] == of_nli()
    facts = {"name", "family", "side", "label_rule", "level", "needs", "available"}
    assert all(facts <= set(row) for row in rows)
    by_name = {row["name"]: row for row in rows}
    assert by_name["drop"]["level"] == "sub-word"
    assert by_name["drop"]["needs"] == ["model"]
    assert by_name["sort"]["label_rule"] == "undefined"
    assert by_name["length_mismatch"]["side"] == "premise"
    assert by_name["negation"]["label_rule"] == "keep"


def test_transforms_are_listed_for_people_too() -> None:
    lines = run("transforms").stdout.splitlines()
    assert [line.split()[0] for line in lines] == of_nli()


def test_options_are_listed_with_what_they_may_be() -> None:
    rows = answer("transforms", "--options")
    assert [row["name"] for row in rows] == list(OPTIONS)
    by_name = {row["name"]: row for row in rows}
    assert list(by_name["sign"]["values"]) == ["support", "gupta", "abs"]
    assert (by_name["inflect"]["default"], by_name["keep"]["range"]) == (True, [0, 1])
    families = {row["family"] for row in answer("transforms", "--options", "--task", "sentiment")}
    assert families == {"several", "gradient", "lexical", "statistical", "stress"}
    assert "senses" in run("transforms", "--options").stdout

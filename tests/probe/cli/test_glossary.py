"""`python -m probe glossary`."""

from tests.support.commands import answer, run


def test_the_glossary_is_printed_with_titles_and_sentences() -> None:
    printed = run("glossary").stdout
    assert "What is measured:\n  Agreement: How often " in printed
    assert "  Sort the words: Puts the words of the hypothesis in alphabetical order.\n" in printed


def test_the_glossary_of_a_task_speaks_its_words() -> None:
    rows = {row["id"]: row for row in answer("glossary", "--task", "sentiment")}
    assert rows["sort"]["summary"] == "Puts the words of the text in alphabetical order."
    assert rows["positive"] == {
        "section": "task",
        "id": "positive",
        "title": "Positive",
        "summary": "The text speaks well of its subject.",
    }

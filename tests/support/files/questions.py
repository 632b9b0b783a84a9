"""Questions about passages as files hold them, with the places of their answers."""

from probe.tasks.reading import Question, Span, joined


def asked(passage: str, question: str, answers: tuple[Span, ...] = (), id: str = "") -> Question:
    """Return a question whose gold answer is that of its places."""
    return Question(question, passage, joined([each.text for each in answers]), id, answers)

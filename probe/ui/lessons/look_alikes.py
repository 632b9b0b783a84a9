"""Lesson: does a reader find what is asked, or what looks like it? (Jia and Liang 2017)."""

from probe.tasks.reading import READING
from probe.ui.lessons import look_alikes_live as live
from probe.ui.lessons.lesson import Guess, Lesson, Question, Step

QUESTIONS = (
    Question(
        "A person who reads the passage with the added sentence is hardly ever fooled. What does "
        "a person do that the model does not?",
        "A person notes that the sentence is about somebody or something else, and that one word "
        "which differs makes it useless. The model has learnt on SQuAD that the answer stands in "
        "the sentence that shares most words with the question. That was nearly always so, and "
        "nothing in training spoke against it.",
    ),
    Question(
        "The sentence is false, or about other things. Why is the right answer still the old one?",
        "The question asks for what it names; of that the added sentence says nothing. Jia and "
        "Liang call such a sentence compatible: it contradicts neither the passage nor the answer. "
        "So the label stays, and a model that changes its answer is wrong.",
    ),
    Question(
        "Train the model on passages with such sentences, always at the end and with the same few "
        "false answers. It does better on them. What may it have learnt?",
        "To pass over the last sentence, or over “Jeff Dean”. Jia and Liang put the sentence in "
        "front and took a second list of false answers: much of the gain was gone. Inoculate, in "
        "its own tab, draws both counter-tests beside the curve.",
    ),
    Question(
        "These sentences are made by rules, and no person has checked them. How does that bear on "
        "the figures?",
        "Some are no good English, and now and then one answers the question after all; then a "
        "jump is no error. Jia and Liang had people repair the sentences and vote on them. Compare "
        "with their figures in direction, not to the point. In Annotate you can vote yourself.",
    ),
    Question(
        "F1 counts shared words of two answers; exact match counts only equal ones. When do they "
        "differ, and which would you report?",
        "“the oak” and “oak” are equal after the articles are dropped; “old oak” and “oak” share "
        "a word, so F1 is two thirds and exact match 0. F1 is milder where the borders are a "
        "matter of taste. SQuAD reports both.",
    ),
)

STEPS = (
    Step(
        "task",
        "Read and answer",
        (
            "A model for reading comprehension reads a passage and a question and answers with "
            "a stretch of the passage. On the SQuAD data set, models do nearly as well as people. "
            "Read the passage, and find the answer.",
        ),
        exhibit=live.show_asked,
        guess=Guess(
            "Will the model find the answer?", ("It finds it", "It answers something else")
        ),
        live=live.answer,
    ),
    Step(
        "add",
        "Add a look-alike",
        (
            "Jia and Liang take the question, change a name or a thing in it, and make a statement "
            "of it with a false answer. The statement is put at the end of the passage. It looks "
            "like the answer but is about something else, so the right answer stays what it was.",
        ),
        exhibit=live.show_look_alike,
        guess=Guess(
            "What will the model do?",
            ("It stays with its answer", "It jumps to the look-alike", "It moves elsewhere"),
        ),
        live=live.add,
    ),
    Step(
        "rule",
        "Is it a rule?",
        (
            f"Now all {live.ROWS} questions that come with this app are asked, about two thirds of "
            "them with a look-alike: where no word can be altered, none is made. The measure is "
            "F1: how far the words of an answer are those of a right one, from 0 to 100.",
        ),
        guess=Guess(
            "How much F1 does the look-alike cost?",
            (
                f"Fewer than {round(100 * live.FEW)} points",
                f"{round(100 * live.FEW)} to {round(100 * live.MANY)} points",
                f"More than {round(100 * live.MANY)} points",
            ),
        ),
        live=live.many,
    ),
    Step(
        "place",
        "Place or words?",
        (
            "Does the model trust the last sentence, or does it follow the words? Put the same "
            "sentence before the passage, and see. And take another false answer, in case it is "
            "drawn to the first.",
        ),
        guess=Guess(
            "Where does the look-alike cost more?",
            ("In front", "At the end", "About the same, within 3 points"),
        ),
        live=live.place,
    ),
    Step(
        "questions",
        "Questions",
        ("Talk about these with your neighbour before you unfold an answer.",),
        questions=QUESTIONS,
    ),
)

LOOK_ALIKES = Lesson(
    "look_alikes",
    "Look-alikes",
    20,
    "Readers answer with what looks like the question, even where it is about something else.",
    "Jia and Liang 2017, Adversarial Examples for Evaluating Reading Comprehension Systems",
    {READING.name: STEPS},
)

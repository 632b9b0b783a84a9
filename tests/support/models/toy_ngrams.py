"""A language model of two words, small enough to score by hand, as the lines of an ARPA file."""

from collections.abc import Sequence

from probe import pbsmt as translate

ARPA = """\\data\\
ngram 1=5
ngram 2=4
ngram 3=1

\\1-grams:
-1.5\t<unk>
-9\t<s>\t-0.5
-1.0\t</s>
-0.7\ta\t-0.3
-0.9\tb\t-0.2

\\2-grams:
-0.4\t<s> a\t-0.1
-0.6\ta b\t-0.15
-0.2\tb </s>
-0.8\tb a

\\3-grams:
-0.05\t<s> a b

\\end\\
"""
TOY = translate.parse_arpa(ARPA.splitlines(keepends=True))


def log10_of(words: Sequence[str], model: translate.NgramModel) -> float:
    """Return the log10 probability of a sentence."""
    total, state = 0.0, translate.START
    for word in (*words, translate.END):
        step, state = model.step(state, word)
        total += step
    return total

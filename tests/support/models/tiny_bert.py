"""A BERT small enough to train inside a test, with a real WordPiece tokenizer."""

from pathlib import Path

import torch
from transformers import (
    BertConfig,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertTokenizerFast,
)

from probe.tasks.nli import LABELS, NLI, Pair
from probe.tasks.task import Task

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
MARKS = list(".,;:!?'\"()-")
TEXT = """
the a an of to in is was are were be been it he she they we you i and or but not no never nobody
nothing true false green red blue white black big small old new good bad long short high low first
last next same other many few some all any every each one two three four five six seven eight nine
ten half more less most least than as at by for from with without on off over under up down out
into near far here there now then today tomorrow yesterday always often sometimes when where who
what which why how this that these those his her their our my your its him them us me man woman
child boy girl friend family mother father sister brother people person dog cat horse bird fish
house home room door window table chair bed street road city town village school shop market
office hospital church park garden river sea lake beach mountain field tree flower sun moon star
rain snow wind day night morning evening week month year hour minute time summer winter spring
bread milk water tea coffee cake apple egg meat rice soup dinner lunch breakfast book paper pen
letter story news song music film picture game ball team match race ticket train bus car bike boat
plane phone radio money price job work doctor teacher driver baker farmer police king queen have
has had do does did go goes went gone come comes came make makes made take takes took get gets got
give gives gave say says said see sees saw know knows knew think thinks thought want wants wanted
like likes liked love loves loved eat eats ate drink drinks drank sleep sleeps slept run runs ran
walk walks walked sit sits sat stand stands stood read reads wrote write writes play plays played
buy buys bought sell sells sold open opens opened close closes closed start starts started stop
stops stopped win wins won lose loses lost live lives lived happy sad hot cold warm wet dry fast
slow early late free full empty clean quiet loud young strong weak rich poor easy hard very too so
only also again still just about after before while because if will would can could may might must
should shall
"""
SUFFIXES = ["##s", "##ed", "##ing", "##er", "##ly", "##n", "##t"]


def tiny_bert(folder: Path, task: Task = NLI) -> Path:
    """Write a model of a task with random weights, always the same; return its folder."""
    letters = [*LETTERS, *(f"##{letter}" for letter in LETTERS)]
    vocabulary = list(dict.fromkeys([*SPECIAL, *MARKS, *letters, *SUFFIXES, *TEXT.split()]))
    labels = dict(enumerate(task.labels))
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=128,
        id2label=labels,
        label2id={label: index for index, label in labels.items()},
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = BertForSequenceClassification(config)
    model.save_pretrained(folder)
    tokenizer = BertTokenizerFast(vocab={word: id_ for id_, word in enumerate(vocabulary)})
    tokenizer.model_max_length = 128
    tokenizer.save_pretrained(folder)
    return folder


def tiny_pairs(n: int) -> tuple[Pair, ...]:
    """Return pairs whose hypothesis decides the label: "very" is neutral, "not" contradiction."""
    people, places = ("man", "woman", "child", "teacher", "baker"), ("park", "shop", "school")
    adverbs = dict(zip(LABELS, ("", "very ", "not "), strict=True))
    pairs = []
    for number in range(n):
        person, place = people[number % 5], places[number // 5 % 3]
        label = LABELS[number % 3]
        hypothesis = f"The {person} is {adverbs[label]}happy in the {place}."
        pairs.append(Pair(f"A {person} walks to the {place}.", hypothesis, label, str(number)))
    return tuple(pairs)


def tiny_reader(folder: Path) -> Path:
    """Write a reader with a span head of random weights, always the same; return its folder."""
    config = BertConfig.from_pretrained(tiny_bert(folder), num_labels=2)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = BertForQuestionAnswering(config)
    model.save_pretrained(folder)
    return folder

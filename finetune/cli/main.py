"""The commands of `python -m finetune` as one group."""

from probe.cli.group import group
from probe.first_import import first_import

COMMANDS = {
    "inoculate": "finetune.cli.trials:inoculate_command",
    "generalise": "finetune.cli.trials:generalise_command",
    "calibrate": "finetune.cli.trials:calibrate_command",
    "mitigate": "finetune.cli.trials:mitigate_command",
    "debias": "finetune.cli.trials:debias_command",
    "transfer": "finetune.cli.trials:transfer_command",
    "challenges": "finetune.cli.runs:challenges_command",
    "glossary": "probe.cli.listings:glossary_command",
    "runs": "finetune.cli.runs:runs_command",
    "run": "finetune.cli.runs:run_command",
    "report": "finetune.cli.runs:report_command",
    "gallery": "finetune.cli.gallery:gallery_command",
    "reader": "finetune.cli.train:reader_command",
    "train": "finetune.cli.train:train_command",
    "share": "finetune.cli.runs:share_command",
    "words": "finetune.cli.train:words_command",
    "word-reader": "finetune.cli.train:word_reader_command",
    "vectors": "finetune.cli.train:vectors_command",
}
app = group(COMMANDS)


@app.callback()
def main() -> None:
    """Change models: train them, inoculate them, see what they generalise to."""
    with first_import:
        from finetune.trials.planning import register_experiments  # not for the help

    register_experiments()

"""The commands of `python -m finetune` as one group."""

from finetune.cli.gallery import gallery_command
from finetune.cli.runs import (
    challenges_command,
    report_command,
    run_command,
    runs_command,
    share_command,
)
from finetune.cli.train import reader_command, train_command
from finetune.cli.trials import (
    calibrate_command,
    generalise_command,
    inoculate_command,
    mitigate_command,
    transfer_command,
)
from finetune.cli.words import vectors_command, word_reader_command, words_command
from finetune.trials.registry import register_experiments
from probe.cli.group import group
from probe.cli.listings import glossary_command

register_experiments()
app = group()
app.command("inoculate")(inoculate_command)
app.command("generalise")(generalise_command)
app.command("calibrate")(calibrate_command)
app.command("mitigate")(mitigate_command)
app.command("transfer")(transfer_command)
app.command("challenges")(challenges_command)
app.command("glossary")(glossary_command)
app.command("runs")(runs_command)
app.command("run")(run_command)
app.command("report")(report_command)
app.command("gallery")(gallery_command)
app.command("reader")(reader_command)
app.command("train")(train_command)
app.command("share")(share_command)
app.command("words")(words_command)
app.command("word-reader")(word_reader_command)
app.command("vectors")(vectors_command)


@app.callback()
def main() -> None:
    """Change models: train them, inoculate them, see what they generalise to."""

"""The commands of `python -m finetune` as one group."""

from finetune.cli.challenges import challenges_command
from finetune.cli.experiments.calibrate import calibrate_command
from finetune.cli.experiments.generalise import generalise_command
from finetune.cli.experiments.inoculate import inoculate_command
from finetune.cli.experiments.mitigate import mitigate_command
from finetune.cli.experiments.transfer import transfer_command
from finetune.cli.gallery import gallery_command
from finetune.cli.report import report_command
from finetune.cli.runs import run_command, runs_command
from finetune.cli.training.reader import reader_command
from finetune.cli.training.share import share_command
from finetune.cli.training.train import train_command
from finetune.cli.training.word_models import words_command
from finetune.cli.training.word_reader import word_reader_command
from finetune.cli.training.word_vectors import vectors_command
from finetune.experiments.registry import register_experiments
from probe.cli.glossary import glossary_command
from probe.cli.group import group

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

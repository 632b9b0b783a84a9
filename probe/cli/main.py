"""The commands of `python -m probe` as one group."""

from probe.cli import annotate, models
from probe.cli.answers.batch import batch_command
from probe.cli.answers.checkup import checkup_command
from probe.cli.answers.compare import compare_command
from probe.cli.answers.hans import hans_command
from probe.cli.answers.pair import pair_command
from probe.cli.distractors import distractors_command
from probe.cli.glossary import glossary_command
from probe.cli.group import group
from probe.cli.resources import baselines, pbsmt, tagger
from probe.cli.service.backup import backup_command, restore_command
from probe.cli.service.certificates import certificates_command
from probe.cli.service.settings import settings_command
from probe.cli.service.space import space_command
from probe.cli.templates import templates_command
from probe.cli.transforms import transforms_command
from probe.experiments import register_experiments

register_experiments()
app = group()
app.command("pair")(pair_command)
app.command("batch")(batch_command)
app.command("compare")(compare_command)
app.command("checkup")(checkup_command)
app.command("hans")(hans_command)
app.command("transforms")(transforms_command)
app.command("distractors")(distractors_command)
app.command("glossary")(glossary_command)
app.command("templates")(templates_command)
app.command("rules")(baselines.judge_command)
app.command("settings")(settings_command)
app.command("backup")(backup_command)
app.command("restore")(restore_command)
app.command("certificates")(certificates_command)
app.command("space")(space_command)
app.add_typer(annotate.app, name="annotate")
app.add_typer(models.app, name="models")
app.add_typer(baselines.app, name="baselines")
app.add_typer(pbsmt.app, name="pbsmt")
app.add_typer(tagger.app, name="tagger")


@app.callback()
def main() -> None:
    """Look at models: one pair, a whole file, comparisons, templates, rule baselines."""

"""The commands of `python -m probe` as one group."""

from probe.cli import annotate, models
from probe.cli.batch import batch_command
from probe.cli.checkup import checkup_command
from probe.cli.compare import compare_command
from probe.cli.distractors import distractors_command
from probe.cli.group import group
from probe.cli.hans import hans_command
from probe.cli.listings import (
    glossary_command,
    settings_command,
    templates_command,
    transforms_command,
)
from probe.cli.pair import pair_command
from probe.cli.rules import rules_command
from probe.cli.service import backup_command, certificates_command, restore_command, space_command
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
app.command("rules")(rules_command)
app.command("settings")(settings_command)
app.command("backup")(backup_command)
app.command("restore")(restore_command)
app.command("certificates")(certificates_command)
app.command("space")(space_command)
app.add_typer(annotate.app, name="annotate")
app.add_typer(models.app, name="models")


@app.callback()
def main() -> None:
    """Look at models: one pair, a whole file, comparisons, templates, rule baselines."""

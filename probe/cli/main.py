"""The commands of `python -m probe` as one group."""

from probe.cli.group import group
from probe.first_import import first_import

COMMANDS = {
    "pair": "probe.cli.pair:pair_command",
    "batch": "probe.cli.batch:batch_command",
    "compare": "probe.cli.compare:compare_command",
    "data": "probe.cli.data:data_command",
    "map": "probe.cli.map:map_command",
    "checkup": "probe.cli.checkup:checkup_command",
    "hans": "probe.cli.hans:hans_command",
    "transforms": "probe.cli.listings:transforms_command",
    "distractors": "probe.cli.distractors:distractors_command",
    "glossary": "probe.cli.listings:glossary_command",
    "templates": "probe.cli.listings:templates_command",
    "rules": "probe.cli.rules:rules_command",
    "settings": "probe.cli.listings:settings_command",
    "backup": "probe.cli.service:backup_command",
    "restore": "probe.cli.service:restore_command",
    "space": "probe.cli.service:space_command",
    "annotate": "probe.cli.annotate:app",
    "models": "probe.cli.models:app",
}
app = group(COMMANDS)


@app.callback()
def main() -> None:
    """Look at models: one pair, a whole file, comparisons, templates, rule baselines."""
    with first_import:
        from probe.experiments import register_experiments  # not for the help

    register_experiments()

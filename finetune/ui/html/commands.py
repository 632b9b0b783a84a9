"""The commands below a run: the one that repeats it, and the one that takes its model home."""

from markupsafe import Markup

from probe.ui.html.elements import NOTHING

REPEAT = Markup("<p>Repeat on the command line:</p><pre>{}</pre>")
TAKE_HOME = Markup("<p>Take the model home, as {}:</p><pre>{}</pre>")


def commands(repeat: str, kept: str) -> Markup:
    """Give the command that repeats a run, and first that of its model; `kept` is "" for none."""
    home = TAKE_HOME.format(kept, f"python -m probe models export {kept} FOLDER")
    return (home if kept else NOTHING) + REPEAT.format(repeat)

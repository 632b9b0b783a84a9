"""`python -m probe certificates`: what lets the machines of a cluster know each other."""

from pathlib import Path
from typing import Annotated

import typer

from probe.runs.certificates import DAYS, MAX_DAYS, NAMES, write_certificates


def certificates_command(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="For the three files.")],
    days: Annotated[
        int, typer.Option(min=1, max=MAX_DAYS, help="Days for which they are valid.")
    ] = DAYS,
    renew: Annotated[bool, typer.Option("--renew", help="Replace those that are there.")] = False,
) -> None:
    """Make certificates for a cluster on tls://: ca.pem, node.pem and node.key, for every machine.

    Those that are there stay. DASK_DISTRIBUTED__COMM__TLS__CA_FILE and so on name them.
    """
    there = all((folder / name).is_file() for name in NAMES)
    if there and not renew:
        typer.echo(f"there already: {folder}")
        return
    write_certificates(folder, days)
    typer.echo(f"written for {days} days: {', '.join(str(folder / name) for name in NAMES)}")

"""Print a table of the attacks: what each tries, and how this course's engine does."""

from __future__ import annotations

import argparse
import sys
import time
from itertools import chain
from typing import Any

from rich.console import Console
from rich.table import Table

from nbproof.sandbox.isolation import isolation_or_refuse
from tests.attacks.adopted import FAMILIES, FORGES
from tests.attacks.arsenal import LESSON, Attack
from tests.attacks.arsenal_all import ATTACKS
from tests.attacks.assault import assault
from tests.attacks.judging import faults, faults_of_the_run, status_of


def main() -> int:
    """0 where every attack fails on our engine."""
    parser = argparse.ArgumentParser(prog="python -m tests.attacks", description=__doc__)
    parser.add_argument("--only", action="append", metavar="NAME", help="this attack only (may be given again)")
    families = sorted({attack.family for attack in ATTACKS})
    parser.add_argument("--family", action="append", choices=families, help="this family only (may be given again)")
    parser.add_argument(
        "--through", choices=("grade", "autograde", "dask"), default="grade",
        help="who grades: `course grade`, the same on two workers of a Dask cluster, or `nbgrader autograde`, lesson by lesson. "
        "(default: grade)",
    )  # fmt: skip
    levels = ("full", "reduced")
    parser.add_argument("--isolation", choices=levels, help="at this level (default: the best that is there)")
    parser.add_argument(
        "--adopted",
        action="store_true",
        help=f"on a lesson made of an nbgrader notebook, with plain asserts: {', '.join(FAMILIES)}",
    )
    parser.add_argument("--ordinary", action="store_true", help="grade as an ordinary user; needs root")
    arguments = parser.parse_args()
    unknown = set(arguments.only or ()) - {attack.name for attack in ATTACKS}
    if unknown:
        parser.error(f"no attack is called {', '.join(sorted(unknown))}")
    known = list(ATTACKS)
    if arguments.adopted:
        asked = [attack for attack in ATTACKS if attack.family in FAMILIES and attack.lesson == LESSON]
        known = [attack for attack in asked if attack.name != FORGES]
    names, families = arguments.only or [one.name for one in known], arguments.family or families
    attacks = [attack for attack in known if attack.name in names and attack.family in families]
    print(isolation_or_refuse(wanted=arguments.isolation), flush=True)
    asked = {name: getattr(arguments, name) for name in ("through", "adopted", "ordinary")}
    return _print(attacks, {"level": arguments.isolation or "", "whole": True, **asked})


def _print(attacks: list[Attack], how: dict[str, Any]) -> int:
    start = time.monotonic()
    console = Console()
    console.print(f"grading a class of {len(attacks)} attackers and 5 honest neighbours", highlight=False)
    with assault(attacks, **how) as outcome:
        run = faults_of_the_run(outcome)
        found = {attack: list(chain.from_iterable(faults(outcome, attack).values())) for attack in attacks}
    table = Table("family", "attack", "tries", "how it ends", title="attacks on graders")
    for attack in attacks:
        ending = f"[green]held[/]: {status_of(outcome, attack)}"
        if found[attack]:
            ending = f"[red]{'; '.join(found[attack])[:200]}[/]"
        table.add_row(attack.family, attack.name, attack.tries, ending)
    console.print(table)
    for fault in run:
        console.print(f"[red]the run:[/] {fault}", highlight=False)
    broken = sum(map(bool, found.values()))
    fail = f"{len(attacks) - broken} of {len(attacks)} attacks fail, honest neighbours have their marks"
    console.print("see above" if run else fail, highlight=False)
    console.print(f"{time.monotonic() - start:.0f} s", highlight=False)
    return 1 if broken or run else 0


if __name__ == "__main__":
    sys.exit(main())

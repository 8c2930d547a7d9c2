"""Hand-ins that learners have pushed to a git forge: ``collect --fetch clones:FOLDER``.

FOLDER holds ``forks.json``, the forge's list of the forks of an assignment's repository, and a clone of each, called as its
owner::

    gh api --paginate --slurp repos/TEACHER/hooks/forks > FOLDER/forks.json
    gh api --paginate repos/TEACHER/hooks/forks --jq '.[].clone_url' | while read -r url; do
        git clone "$url" "FOLDER/$(basename "$(dirname "$url")")"; done

The forge says who owns a fork and when something was pushed last. Whoever commits can choose a commit's date, so that counts
for nothing. Gitea and Forgejo have the same list, with ``updated_at``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from nbproof.errors import UsageError
from nbproof_lms.system import Fetched, System

__all__ = ["SYSTEM"]


class Clones(System):
    """A folder of clones, beside the forge's list of them."""

    name = "Clones"
    address = "the folder with forks.json and the clones"

    def fetch(self, address: str) -> Iterator[Fetched]:
        """A hand-in for each fork. One that was not cloned is nobody's mistake but the teacher's: it is an error."""
        folder = Path(address)
        listed = folder / "forks.json"
        try:
            forks = list(_forks(json.loads(listed.read_text(encoding="utf-8"))))
        except (OSError, ValueError, KeyError) as error:
            fact = f"the forge's list of forks cannot be read: {error}"
            raise UsageError(
                fact, str(listed), f"gh api --paginate --slurp repos/OWNER/REPO/forks > {listed}"
            ) from None
        for login, when in forks:
            clone = folder / login
            if not clone.is_dir():
                raise UsageError(
                    f"{login} has a fork, and there is no clone of it", str(clone), "clone it, then run this again"
                )
            yield Fetched(login, clone, when=when)


def _forks(told: Any) -> Iterator[tuple[str, datetime]]:
    """Owner and time of the last push. ``told``: a list of forks, or, page by page, a list of such lists."""
    for one in told:
        if isinstance(one, list):
            yield from _forks(one)
        else:
            yield one["owner"]["login"], datetime.fromisoformat(one.get("pushed_at") or one["updated_at"])


SYSTEM = Clones()

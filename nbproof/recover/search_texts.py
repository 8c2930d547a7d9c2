"""What is told of an answer that did not stand in its place, or that is missing. A language may have others under these keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["SEARCH_TEXTS"]

SEARCH_TEXTS: Mapping[str, Any] = {
    "search cell": "cell {number} of {count}",
    "search file": "the file {name}",
    "search split": "The TODO cell was split into {count} cells. They were put together again.",
    "search head": "[Not certain to be the answer, and not marked: a person has to look.]",
    "search waits": "{why} Code in {where} may be the answer, which is not certain: it has no marks yet, and a person has to "
    "look. What is needed is a notebook with the code in the TODO cell.",
    "search absent": "The notebook holds nothing of it: it may have been made before this was added to the lesson. The "
    "instructor has the lesson as it is now.",
    "search comments": "The TODO cell holds code in comments only.",
    "search text cell": "The TODO cell had become a text cell.",
    "search twice": "The TODO cell is there more than once. The one that was worked on counts.",
    "search broken off": "The file breaks off in the middle of this TODO cell. The whole notebook is needed.",
    "search below": "The TODO cell is as it was handed out. Code for it stood below it, in cells of its own, and ran there.",
    "search several": "The TODO cell was worked on more than once. The one directly above its check counts, as in Run All.",
    "search undecided": "The TODO cell was worked on more than once, and its check does not stand below.",
    "search by place": "The TODO cell had lost its id, and was found by its place.",
    "search missing": "The TODO cell is missing.",
    "search no code": "The TODO cell holds no code.",
    "search lost": "The TODO cell is missing, and no other cell holds an answer to it. The notebook with the cell in it is "
    "needed.",
    "search another's": "The TODO cell holds code for `{name}` as well.",
    "search before": "The file breaks off before this cell. The whole notebook is needed.",
    "search words lost": "The cell for the written answer is missing. The notebook with the cell in it is needed.",
    "search more text": "More text stood in {where}. It is shown below the answer.",
    "search other text": "Nothing stood in the cell for it. What may be the answer stands in {where}: a person looks.",
    "search another": "it is another notebook: none of its {count} cells belongs to {lesson}",
}
"""Every sentence by what it is about."""

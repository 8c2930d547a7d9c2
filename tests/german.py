"""A small German for the panel: one module, which a course names in its ``course.toml``. What it leaves out stays English."""

from __future__ import annotations

from nbproof.values.words import Language

__all__ = ["WORDS"]

WORDS = Language(
    {
        "value list": "eine Liste mit {of}",
        "value function": "eine Funktion ({of})",
        "value object": ("ein {name}", "ein {name}"),
        "value torch": "ein Tensor",
        "items": ("{count} Eintrag", "{count} Einträgen"),
        "of shape": "{what} der Form {shape}",
        "found shape": "{where} hat die Form {got}",
        "found": "{where} ist {got}",
        "instead of what": "{found}, gesucht war {wanted}",
        "both": "{got} statt {wanted}",
        "elements": "{differ} von {of} Elementen sind anders, zuerst an der Stelle {index}: {both}",
        "stands": "`{name}` ist {what}",
        "not defined": "`{name}` gibt es nicht",
        "to define": "{stands}. Führe die TODO-Zelle der Aufgabe aus, dann noch einmal diese.",
        "not asked for": "{stands}, gesucht war {wanted}.",
        "to be function": "eine Funktion",
        "asked": "gefragt",
        "looks like": "Sieht aus wie",
        "where": "wo",
        "got": "deins",
        "wanted": "gesucht",
        "passed": "bestanden",
        "not yet": "noch nicht",
        "ask for help": "Hilfe gibt es mit `hint()` in einer Zelle.",
    }
)

"""Names of people, files and folders: which are the same, which can be a learner's, and which are nobody's."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

__all__ = ["COPY", "TASK", "bare", "for_a_file", "is_nobody", "plain", "why_no_learner", "without_copy_marks"]

_FORBIDDEN = set('/\\+*?[]{}<>:"|')
_OTHER_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"})

COPY = frozenset(
    re.findall(
        r"\w+",
        """
        copy copie copia kopie cópia còpia kopia kopi kopio kópia kópie kopija kopya kópiája másolat másolata koopia
        копия копія копие копија kopyası salinan αντίγραφο העתק عותק نسخة نسخه 副本 拷贝 複製 复制 コピー 복사본 사본 สำเนา
        duplicate duplikat duplicado doublon
        """,
    )
)
"""What systems call a copy."""

TASK = frozenset(
    re.findall(
        r"\w+",
        """
        lesson lessons assignment assignments homework homeworks exercise exercises submission submissions handin handins
        notebook notebooks ipynb jupyter colab untitled worksheet coursework abgabe abgaben aufgabe aufgaben
        übung übungen uebung uebungen hausaufgabe hausaufgaben lektion lösung lösungen loesung loesungen devoir devoirs
        leçon rendu exercice exercices tarea tareas lección entrega entregas ejercicio ejercicios solución lição tarefa
        tarefas exercício exercícios consegna compito compiti esercizio esercizi lezione opdracht opgave oppgave
        innlevering inlämning uppgift tehtävä zadanie zadania lekcja úkol ödev задание задания урок работа решение
        упражнение домашнее 作业 作業 练习 課題 宿題 과제 숙제
        """,
    )
)
"""What is handed in: a name that holds one of these is not a learner's."""

NOBODY = (
    COPY
    | TASK
    | frozenset(
        re.findall(
            r"\w+",
            """
            archive extracted downloaded download downloads upload uploads hw lab labs week final new old solution
            solutions solved answer answers done file files my updated fixed version v class inbound release latest
            attempt draft todo complete completed finished onlinetext comments edited of real really the this one is it
            work project content desktop documents src code data student students collected part task test zip
            checkpoints hand handed in turn turned outer inner nested wrapper wrapped folder folders directory dir
            attachment attachments attached mail mails email message messages inbox eml mbox msg scan scans screenshot
            screenshots image images picture pictures figures photo print printed export exported pdf doc docx odt rtf
            pages txt html htm md py json csv xls xlsx png jpg jpeg gif svg gz tar tgz rar xz bak tmp temp backup shortcut
            submitted home homes users accounts incoming outgoing public gradebook export exports clones repositories repos
            group groups gruppe gruppen groupe grupo gruppo team teams section sections
            finale endgültig entwurf neu alt fertig nuevo nueva versión borrador définitif brouillon nouveau nouvelle
            ordner carpeta dossier cartella папка файл новая новый
            """,
        )
    )
)
"""Words that no learner's name is made of alone."""


def plain(text: str) -> str:
    """A name without differences that nobody sees: letter case, composed or decomposed accents, runs of spaces."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


# From India to Thailand, and in Japan, a mark is a vowel or another consonant, and no accent.
_MARKS = re.compile("[\u0900-\u1ccf\u3099\u309a]")


def bare(text: str) -> str:
    """A name as careless systems write it: letters and digits only, no accents."""
    letters = unicodedata.normalize("NFKD", text.casefold()).translate(_OTHER_LETTERS)
    return "".join(letter for letter in letters if letter.isalnum() or _is_letter_mark(letter))


def _is_letter_mark(letter: str) -> bool:
    return bool(_MARKS.match(letter)) and unicodedata.category(letter).startswith("M")


def why_no_learner(name: str) -> str:
    """Why this cannot be a learner's id, which is the name of a folder; empty if it can."""
    if not name.strip() or name != name.strip():
        return "it is empty, or begins or ends with a space"
    if name.startswith(".") or not name.isprintable():
        return "it begins with a dot, or holds signs that cannot be printed"
    if found := sorted(_FORBIDDEN & set(name)):
        return f"it holds {' '.join(found)}"
    return "it is longer than 120 bytes" if len(name.encode()) > 120 else ""


_COPIES = "|".join(sorted(COPY, key=len, reverse=True))
_COPY_OF = re.compile(
    rf"^(?:(?:{_COPIES})\s*(?:\(\d{{1,3}}\)\s*)?(?:of|de|von|di|da|av|af|van|z|от|из)?(?:\s+|[-_–—]+))+", re.IGNORECASE
)
_COPY = re.compile(
    rf"(?:\s*\(\d{{1,3}}\)|\s*\((?:{_COPIES})\)|(?:\s*[-–—]\s*|[-_ ])(?:{_COPIES})\s?\d*)$", re.IGNORECASE
)
_ENDINGS = re.compile(
    r"(?:\.ipynb|\.eml|\.txt|\.json|\.html?|\.py|\.md|\.gz|\.zip|\.tar|\.tgz|\.7z|\.rar|\.xz|\.bz2|\.pdf|\.docx?)+$",
    re.IGNORECASE,
)


def without_copy_marks(name: str) -> str:
    """A file's name without endings, ``(1)``, ``Copy of`` and ``- Copy``."""
    stem = _COPY_OF.sub("", _ENDINGS.sub("", name))
    while (shorter := _COPY.sub("", _ENDINGS.sub("", stem))) != stem:
        stem = shorter
    return stem.strip()


def is_nobody(name: str, lessons: Iterable[str] = ()) -> bool:
    """Whether a name is one that no learner bears: ``submissions``, ``Untitled3``, ``Hand-in lesson 1``, that of a lesson."""
    words = _words(name)
    own = {word for lesson in lessons for word in _words(lesson)}
    if not words or len(name) > 200 or any(word in TASK for word in words):
        return True
    return all(word in NOBODY or word in own or (word.isdigit() and len(word) < 4) for word in words)


def _words(name: str) -> list[str]:
    # Composed: a letter and its accent apart would be two words.
    return re.findall(r"[^\W\d_]+|\d+", unicodedata.normalize("NFC", name.casefold()))


def for_a_file(name: str, between: str) -> str:
    """A name without what file systems refuse, what hides a file, and underscores, which are the LMS's."""
    kept = "".join(" " if letter in '_/\\:*?"<>|' or not letter.isprintable() else letter for letter in name)
    return between.join(kept.split())[:80].strip(" .~'-")

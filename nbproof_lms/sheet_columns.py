"""Which column of somebody's table of people is which: by what stands above it, in many languages, or by what is in it.

Moodle writes its exports in the language of whoever asks for them. Addresses, and what a grading worksheet calls a
participant, look the same in all of them; for the rest there is a table of words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

__all__ = [
    "COMMENTS",
    "FIRST",
    "GRADE",
    "IDENTIFIER",
    "LAST",
    "LEARNER",
    "MAXIMUM",
    "heads_of",
    "is_filled",
    "is_percentage",
    "item_of",
]

FIRST, LAST, IDENTIFIER = "first name", "last name", "identifier"
GRADE, MAXIMUM, COMMENTS = "grade", "maximum grade", "feedback comments"

LEARNER = (
    "learner",
    "student id",
    "sis login id",
    "login id",
    "username",
    "login",
    "sis user id",
    "integration id",
    "id number",
    "email address",
    "id",
    "student",
    "name",
    "full name",
)
"""Columns whose value becomes the learner's id, the best first."""

_WORDS = {
    FIRST: """
        firstname; given name; vorname; prénom; nombre; nome; primeiro nome; voornaam; imię; jméno; křestní jméno; meno;
        förnamn; fornavn; etunimi; adı; ad; ime; eesnimi; vardas; prenume; keresztnév; имя; ім'я; όνομα; 名
    """,
    LAST: """
        lastname; surname; family name; nachname; nom; nom de famille; apellido; apellidos; apellido(s); cognome; cognoms;
        apelido; apelidos; apelido(s); sobrenome; último nome; achternaam; nazwisko; příjmení; priezvisko; efternamn;
        efternavn; etternavn; sukunimi; soyadı; soyad; prezime; priimek; perekonnanimi; pavardė; nume; vezetéknév;
        фамилия; прізвище; επώνυμο; 姓
    """,
    "full name": """
        vollständiger name; nom complet; nombre completo; nome completo; volledige naam; pełna nazwa; imię i nazwisko;
        celé jméno; fullständigt namn; fulde navn; fullt navn; koko nimi; tam adı; полное имя; 氏名
    """,
    "username": """
        user name; anmeldename; benutzername; nom d'utilisateur; nombre de usuario; nome utente; nome de utilizador;
        nome de usuário; gebruikersnaam; nazwa użytkownika; uživatelské jméno; používateľské meno; användarnamn;
        brugernavn; brukernavn; käyttäjätunnus; kullanıcı adı; nom d'usuari; логин; имя пользователя; 用户名; ユーザ名
    """,
    "id number": """
        idnumber; id-nummer; idnummer; numéro d'identification; numéro d'étudiant; número de id; número id;
        número de identificación; codice identificativo; numero id; número de identificação; numer id;
        numer identyfikacyjny; numer identyfikacyjny (id); identifikační číslo; id číslo; identifikačné číslo;
        tunnistenumero; id-numara; kimlik numarası; número d'identificació; идентификационный номер; 学号
    """,
    "email address": "email; e-mail; mail; e-mail-adresse; courriel; adresse de courriel; correo; correo electrónico",
    GRADE: """
        bewertung; note; calificación; valutazione; voto; nota; beoordeling; cijfer; ocena; hodnocení; známka; hodnotenie;
        betyg; karakter; arvosana; not; qualificació; оценка; оцінка; βαθμός; 評点; 成绩
    """,
    MAXIMUM: """
        max grade; bestwertung; höchstbewertung; note maximale; calificación máxima; valutazione massima; voto massimo;
        punteggio massimo; nota máxima; maximum cijfer; maximumcijfer; maximale beoordeling; ocena maksymalna;
        maksymalna ocena; maximální známka; maximální hodnocení; maxbetyg; maksimumkarakter;
        maksimal karakter; suurin arvosana; en yüksek not; qualificació màxima; максимальная оценка; максимальна оцінка;
        最大評点; 最高成绩
    """,
    COMMENTS: """
        feedback als kommentar; feedback par commentaires; commentaires de feedback; comentarios de retroalimentación;
        comentarios de la retroalimentación; commenti di feedback; comentários de feedback; feedback opmerkingen
    """,
    IDENTIFIER: "identifikator; teilnehmer/in; identifiant; identificador; identificativo; identificatie; identyfikator",
}
"""What Moodle's languages call a column."""

_NUMBERED = re.compile(r"(?P<word>[^\d@]{2,40}) \d+")
"""What a grading worksheet calls somebody: ``Participant 123``, ``Deelnemer 123``."""


_ITEM = re.compile(
    r"^(?:assignment|aufgabe|tarea|devoir|compito|opdracht|tarefa|trabalho|zadanie|úkol|uppgift|opgave|oppgave|tehtävä|tasca)"
    r"\s*:\s*",
    re.IGNORECASE,
)
"""What an export of the gradebook writes before an assignment's name."""
_PERCENTAGE = ("percentage", "prozent", "prozentsatz", "pourcentage", "porcentaje", "percentuale", "porcentagem", "%")
_SHOWN_AS = re.compile(
    r"\s*\((?:\d+|real|letter|punkte|reell|brut|brute|réel|réelle|lettre|letra|lettera|reale|reëel|echt|"
    + "|".join(_PERCENTAGE)
    + r")\)\s*$",
    re.IGNORECASE,
)
"""What stands behind it: Canvas's number of it, or how Moodle shows the grade."""


def item_of(cell: str) -> str:
    """What a column of a gradebook is about, without what Canvas and Moodle put around its name."""
    return _ITEM.sub("", _SHOWN_AS.sub("", cell.strip()))


def is_percentage(cell: str) -> bool:
    """Whether a column of Moodle's gradebook says so of its grades."""
    return cell.strip().casefold().endswith(tuple(f"({word})" for word in _PERCENTAGE))


def head_of(cell: str) -> str:
    """A column's name, bare of punctuation and accents: ``ID number`` -> ``id number``, ``student_id`` -> ``student id``."""
    letters = unicodedata.normalize("NFKD", cell.casefold().replace("ł", "l"))
    bare_letters = (letter for letter in letters if not unicodedata.combining(letter))
    return " ".join("".join(letter if letter.isalnum() else " " for letter in bare_letters).split())


_MEANT = {head_of(word): meant for meant, words in _WORDS.items() for word in words.split(";")}


def heads_of(rows: Sequence[Sequence[str]]) -> list[str]:
    """What the columns of a table are: ``LEARNER``, ``FIRST``, ``LAST``, ``IDENTIFIER``, or what stands above them."""
    heads: list[str] = []
    for cell in rows[0]:
        head = _named(cell)
        if head == LAST and LAST in heads and FIRST not in heads:
            # "Nom" is the last name in French, and the first in Catalan, where another word follows.
            heads[heads.index(LAST)] = FIRST
        heads.append(head_of(cell) if head in heads else head)
    alone = {FIRST, LAST} & set(heads)
    if len(alone) == 1 and not {"name", "full name"} & set(heads):
        heads[heads.index(alone.pop())] = "full name"
    if "learner" not in heads:
        _by_shape(heads, rows)
        _marks_by_shape(heads, rows)
    return heads


def _named(cell: str) -> str:
    """What a column is called, in English if some language of Moodle's calls it so."""
    head = head_of(cell)
    both = {_MEANT.get(head_of(part), head_of(part)) for part in cell.split("/")}
    if both == {FIRST, LAST}:
        return "full name"
    return _MEANT.get(head, head)


def _by_shape(heads: list[str], rows: Sequence[Sequence[str]]) -> None:
    """Name columns that no word named by what is in them: addresses, participants; then, as Moodle orders them, names and ids."""
    whose = {*LEARNER, FIRST, LAST, IDENTIFIER}
    told = whose | {GRADE, MAXIMUM, COMMENTS}
    words = {found["word"] for row in rows[1:] if (found := _NUMBERED.fullmatch(row[0].strip()))}
    if heads[0] not in whose - {IDENTIFIER, "id"} and len(words) == 1 and is_filled(rows, 0):
        heads[0] = IDENTIFIER
    free = [column for column, head in enumerate(heads) if head not in told]
    addresses = [column for column in free if _every(rows, column, r"[^@\s]+@[^@\s]+")]
    if "email address" not in heads and addresses:
        heads[addresses[0]] = "email address"
    if "email address" not in heads or whose & set(heads) - {"email address", IDENTIFIER}:
        return
    before = [column for column in free if column < heads.index("email address")]
    people = [column for column in before if _every(rows, column, r"[^\d@]+")]
    if len(people) > 1:
        heads[people[0]], heads[people[1]] = FIRST, LAST
    elif people:
        heads[people[0]] = "full name"
    ids = [column for column in free if _every(rows, column, r"\S*\d\S*") and "@" not in rows[1][column]]
    if ids and is_filled(rows, ids[0]):
        heads[ids[0]] = "id number"


def _marks_by_shape(heads: list[str], rows: Sequence[Sequence[str]]) -> None:
    """Name a grading worksheet's columns in Moodle's order: a grade, its maximum (one number for all); last, comments."""
    if IDENTIFIER not in heads:
        return
    told = {*LEARNER, FIRST, LAST, IDENTIFIER}
    free = [column for column, head in enumerate(heads) if head not in told]
    if MAXIMUM not in heads:
        equal = [column for column in free if column - 1 in free and _is_one_number(rows, column)]
        if GRADE in heads:
            equal = [column for column in equal if heads[column - 1] == GRADE]
        # Where everybody has the same grade, the maximum stands behind it.
        most = next((column for column in equal if column + 1 not in equal), None)
        if most is None:
            return
        heads[most] = MAXIMUM
    most = heads.index(MAXIMUM)
    if GRADE not in heads and most - 1 in free:
        heads[most - 1] = GRADE
    # Between them: whether the grade can be changed, and when work and grade last were.
    if COMMENTS not in heads and len(heads) - 1 in free and len(heads) - 1 > most + 3:
        heads[-1] = COMMENTS


def _is_one_number(rows: Sequence[Sequence[str]], column: int) -> bool:
    said = {row[column].strip() for row in rows[1:]}
    return len(said) == 1 and re.fullmatch(r"\d+(?:[.,]\d+)?", said.pop()) is not None


def _every(rows: Sequence[Sequence[str]], column: int, shape: str) -> bool:
    """Whether most rows say something in this column, all of it of one shape."""
    said = [cell for row in rows[1:] if (cell := row[column].strip())]
    return len(said) * 2 >= len(rows) - 1 > 0 and all(re.fullmatch(shape, cell) for cell in said)


def is_filled(rows: Sequence[Sequence[str]], column: int) -> bool:
    """Whether most rows say something in this column, and not the same twice."""
    said = [cell for row in rows[1:] if (cell := row[column].strip())]
    return bool(said) and len(said) * 2 >= len(rows) - 1 and len(set(said)) * 2 > len(said)

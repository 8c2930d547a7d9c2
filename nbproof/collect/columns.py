"""Which column of somebody's table of people is which: by what stands above it, in many languages, or by what is in it.

Moodle writes its exports in the language of whoever asks for them. Addresses, and what a grading worksheet calls a
participant, look the same in all of them; for the rest there is a table of words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

__all__ = ["FIRST", "IDENTIFIER", "LAST", "LEARNER", "heads_of", "is_filled"]

FIRST, LAST, IDENTIFIER = "first name", "last name", "identifier"

LEARNER = (
    "learner", "student id", "sis login id", "login id", "username", "login", "sis user id", "integration id",
    "id number", "email address", "id", "student", "name", "full name",
)  # fmt: skip
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
    IDENTIFIER: "identifikator; teilnehmer/in; identifiant; identificador; identificativo; identificatie; identyfikator",
}
"""What Moodle's languages call a column."""

_NUMBERED = re.compile(r"(?P<word>[^\d@]{2,40}) \d+")
"""What a grading worksheet calls somebody: ``Participant 123``, ``Deelnemer 123``."""


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
    told = {*LEARNER, FIRST, LAST, IDENTIFIER}
    words = {found["word"] for row in rows[1:] if (found := _NUMBERED.fullmatch(row[0].strip()))}
    if heads[0] not in told - {IDENTIFIER, "id"} and len(words) == 1 and is_filled(rows, 0):
        heads[0] = IDENTIFIER
    free = [column for column, head in enumerate(heads) if head not in told]
    addresses = [column for column in free if _every(rows, column, r"[^@\s]+@[^@\s]+")]
    if "email address" not in heads and addresses:
        heads[addresses[0]] = "email address"
    if "email address" not in heads or told & set(heads) - {"email address", IDENTIFIER}:
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


def _every(rows: Sequence[Sequence[str]], column: int, shape: str) -> bool:
    """Whether most rows say something in this column, all of it of one shape."""
    said = [cell for row in rows[1:] if (cell := row[column].strip())]
    return len(said) * 2 >= len(rows) - 1 > 0 and all(re.fullmatch(shape, cell) for cell in said)


def is_filled(rows: Sequence[Sequence[str]], column: int) -> bool:
    """Whether most rows say something in this column, and not the same twice."""
    said = [cell for row in rows[1:] if (cell := row[column].strip())]
    return bool(said) and len(said) * 2 >= len(rows) - 1 and len(set(said)) * 2 > len(said)

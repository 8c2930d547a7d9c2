"""Somebody else's table: a CSV in any encoding, with any separator, that is written again as it came. The words above a column
say what the column is, in the languages that Moodle has most."""

from __future__ import annotations

import csv
import io
import re
import shlex
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from nbproof.errors import UsageError, disk_trouble
from nbproof.grouping import merged
from nbproof.text import some_of
from nbproof_lms.names import bare

__all__ = [
    "FIRST",
    "GRADE",
    "IDENTIFIER",
    "LAST",
    "LEARNER",
    "LETTERS",
    "MAXIMUM",
    "PERCENTAGE",
    "REVEALED",
    "SCALE",
    "STATUS",
    "Sheet",
    "decimal_sign",
    "heads_of",
    "is_filled",
    "item_of",
    "number_in",
    "read_sheet",
    "shows",
]


_LARGEST = 32 << 20


# "1,000" and "1.000" may be one or a thousand, so they are no number here.
_NUMBER = re.compile(
    r"(?![1-9]\d{0,2}[.,]\d{3}\Z)(?P<whole>\d+|\d{1,3}(?P<group>[.,\s'’])\d{3}(?:(?P=group)\d{3})*)"
    r"(?:(?!(?P=group))(?P<sign>[.,])(?P<part>\d+))?"
)


def number_in(text: str) -> float | None:
    """The number of points in a cell, with thousands grouped in any way; None if the cell holds no number."""
    found = _NUMBER.fullmatch(text.strip())
    if not found:
        return None
    value = float(re.sub(r"\D", "", found["whole"]) + "." + (found["part"] or "0"))
    return value if value < 1e6 else None


def decimal_sign(text: str) -> str:
    """What stands before the decimals of a number in a cell; empty if nothing does, or the cell holds no number."""
    found = _NUMBER.fullmatch(text.strip())
    return (found and found["sign"]) or ""


@dataclass(frozen=True)
class Sheet:
    """A table, and how its file was written."""

    path: Path
    rows: list[list[str]]
    encoding: str
    delimiter: str
    line_end: str
    short: tuple[str, ...] = ()
    """The lines with fewer cells than the first one. Their other cells are empty in ``rows``."""

    @property
    def head(self) -> list[str]:
        """The names of the columns."""
        return self.rows[0]

    @property
    def doubts(self) -> list[str]:
        """Sentences on what the file leaves open: its encoding, if that is a guess, and lines with too few cells."""
        doubts = []
        cells = chain.from_iterable((*self.rows[1:], self.head))
        example = next((cell for cell in cells if not cell.isascii()), "")
        # No file says that it is Windows' Latin-1.
        if self.encoding == "cp1252" and example:
            told = f"{self.path.name} is no UTF-8, and was read as Windows' Western European, such as {example!r}"
            then = "If that is not how it is written, save it as CSV (UTF-8), and run the same command again"
            doubts.append(f"{told}. {then}")
        if self.short:
            few = f"fewer cells than the first line, so the last ones are taken as empty: {some_of(self.short, 8)}"
            doubts.append(f"{self.path.name} has lines with {few}")
        return doubts

    def columns(self, *names: str) -> tuple[int, ...]:
        """The columns with these names that are there, in the order of the names; letter case and punctuation do not count."""
        heads = [bare(cell) for cell in self.head]
        return tuple(heads.index(bare(name)) for name in names if bare(name) in heads)

    def text(self, rows: Iterable[Sequence[str]]) -> bytes:
        """Rows as bytes, written as this file is. The instructor's own cells are left as they are."""
        out = io.StringIO()
        csv.writer(out, delimiter=self.delimiter, lineterminator=self.line_end).writerows(rows)
        return out.getvalue().encode(self.encoding, "replace")


def read_sheet(path: Path, what: str, option: str) -> Sheet:
    """Read a table with a head and rows. ``what`` it is and the ``option`` that named it stand in errors.

    Raises UsageError if it cannot be read, is no CSV, or holds no row below the head.
    """
    this = f"{option} {shlex.quote(str(path))}" if option else "run the same command again"
    again = f"save it as CSV (UTF-8); then {this.replace(path.name, path.with_suffix('.csv').name)}"
    unread = disk_trouble(UsageError, f"{what} cannot be read", path, f"choose a CSV: {option or '--names'} FILE")
    with unread, path.open("rb") as file:
        data = file.read(_LARGEST + 1)
    text, encoding = _decoded(data)
    if len(data) > _LARGEST or "\0" in text or data.startswith((b"PK", b"\xd0\xcf\x11\xe0")):
        raise UsageError(f"{what} stand in a file that is no CSV", str(path), again)
    table, delimiter = _delimited(text)
    reader = csv.reader(io.StringIO(table, newline=""), delimiter=delimiter)
    above = text.count("\n") - table.count("\n")
    try:
        lines = [(above + reader.line_num, row) for row in reader if "".join(row).strip()]
    except csv.Error as error:
        raise UsageError(f"{what} cannot be read as CSV: {error}", str(path), again) from None
    rows = [row for _, row in lines]
    if len(rows) < 2:
        start = "" if rows else "is empty: it "
        then = f"name a file with a line for each learner, below the line with the names of the columns; then {this}"
        raise UsageError(f"the file of {what} {start}holds no learner", str(path), then)
    width = len(rows[0])
    named = [f"line {at} ({delimiter.join(row)[:60]})" for at, row in lines]
    if shifted := [name for name, row in zip(named, rows, strict=True) if "".join(row[width:]).strip()]:
        raise UsageError(
            f"a line has more cells than the first line has names, so nothing is taken: {some_of(shifted, 8)}",
            str(path),
            f'put quotation marks around a cell with {delimiter!r} in it, such as "King{delimiter} Ada"; then {this}',
        )
    short = tuple(name for name, row in zip(named, rows, strict=True) if len(row) < width)
    rows = [(row + [""] * width)[:width] for row in rows]
    line_end = "\r\n" if "\r\n" in text else "\n"
    return Sheet(path, rows, encoding, delimiter, line_end, short)


def _delimited(text: str) -> tuple[str, str]:
    """The table itself, and the sign between its cells: Excel may name it in a line of its own before all others."""
    told = re.match(r'"?sep=(.)"?\r?\n', text, re.IGNORECASE)
    if told:
        return text[told.end() :], told[1]
    return text, max(",;\t|", key=text.lstrip().partition("\n")[0].count)


def _decoded(data: bytes) -> tuple[str, str]:
    """Text and encoding: UTF-8 with or without a mark, UTF-16 with one, or Windows' Latin-1; a zero byte for what is no text."""
    encodings = ["utf-8", "cp1252"]
    if data.startswith(b"\xef\xbb\xbf"):
        encodings[0] = "utf-8-sig"
    elif data.startswith((b"\xff\xfe", b"\xfe\xff")):
        encodings = ["utf-16"]
    for encoding in encodings:
        try:
            return data.decode(encoding), encoding
        except UnicodeDecodeError:
            continue
    return "\0", ""


FIRST, LAST, IDENTIFIER = "first name", "last name", "identifier"
REVEALED = "in Moodle: the assignment, Submissions, Reveal student identities; then download the worksheet again"
"""What to do where a worksheet names nobody."""
GRADE, MAXIMUM, SCALE, STATUS = "grade", "maximum grade", "scale", "status"

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
    "orgdefinedid",
    "email address",
    "id",
    "student",
    "name",
    "full name",
)
"""Columns that can give the learner's id, the best first."""

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
        tunnistenumero; id-numara; kimlik numarası; número d'identificació; идентификационный номер; 学号;
        student number; student no; matriculation number; matric number; registration number; enrolment number;
        enrollment number; roll number; university id; matrikelnummer; matrikel-nr.; matrikelnr; matr.-nr.; matrnr;
        matr.nr.; matrikel; numéro étudiant; n° étudiant; nº étudiant; no étudiant; code étudiant; matricule; matrícula;
        número de matrícula; nº de matrícula; número de estudiante; número de alumno; código de estudiante; expediente;
        número de expediente; número de estudante; número de aluno; nº de aluno; matricola; numero di matricola; n. matricola;
        studentnummer; studienummer; numer albumu; nr albumu; numer indeksu; nr indeksu; číslo studenta; osobní číslo;
        studentnr; opiskelijanumero; öğrenci numarası; öğrenci no; número d'expedient; номер студенческого билета;
        номер зачётной книжки; номер студента; αριθμός μητρώου; αμ; mã số sinh viên; mssv; nim; nomor induk mahasiswa;
        學號; 学籍番号; 学生番号; 학번; 학생 번호; رقم الطالب; الرقم الجامعي; מספר סטודנט
    """,
    "email address": """
        email; e-mail; mail; e-mail-adresse; courriel; adresse de courriel; correo; correo electrónico; dirección de correo;
        indirizzo email; endereço de email; e-mailadres; adres e-mail; e-mailová adresa; e-postadress; e-mailadresse;
        e-postadresse; sähköpostiosoite; e-posta adresi; adreça electrònica; адрес электронной почты; メールアドレス; 电子邮件地址
    """,
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
    SCALE: """
        skala; bewertungsskala; barème; escala; scala; schaal; škála; stupnica; asteikko; ölçek; шкала; κλίμακα; 評価尺度; 量表;
        等级
    """,
    STATUS: "statut; estado; stato; estat; stav; tila; durum; статус; стан; κατάσταση; ステータス; 状态; 狀態; 상태",
    IDENTIFIER: "identifikator; teilnehmer/in; identifiant; identificador; identificativo; identificatie; identyfikator",
}
"""What Moodle's languages call a column."""

_NUMBERED = re.compile(r"(?P<word>[^\d@]{2,40} |teilnehmer/in)\d+", re.IGNORECASE)
"""What a grading worksheet calls somebody: ``Participant 123``, ``Deelnemer 123``, and in German ``Teilnehmer/in123``."""


_ITEM = re.compile(
    r"^(?:assignment|aufgabe|tarea|devoir|compito|opdracht|tarefa|trabalho|zadanie|úkol|uppgift|opgave|oppgave|tehtävä|tasca)"
    r"\s*:\s*",
    re.IGNORECASE,
)
"""What an export of the gradebook writes before an assignment's name."""
PERCENTAGE = ("percentage", "prozent", "prozentsatz", "pourcentage", "porcentaje", "percentuale", "porcentagem", "%")
LETTERS = ("letter", "buchstabe", "lettre", "letra", "lettera")
_SHOWN_AS = re.compile(
    r"\s*\((?:\d+|real|punkte|reell|brut|brute|réel|réelle|reale|reëel|echt|"
    + "|".join((*PERCENTAGE, *LETTERS))
    + r")\)\s*$",
    re.IGNORECASE,
)
"""What stands behind it: Canvas's number of it, or how Moodle shows the grade."""


def item_of(cell: str) -> str:
    """The name of the assignment in a column's head, without the words that Canvas and Moodle put around it."""
    return _ITEM.sub("", _SHOWN_AS.sub("", cell.strip()))


def shows(cell: str, words: Iterable[str]) -> bool:
    """Whether a column's head in Moodle's gradebook says how it shows grades. ``words``: ``PERCENTAGE`` or ``LETTERS``."""
    return cell.strip().casefold().endswith(tuple(f"({word})" for word in words))


def head_of(cell: str) -> str:
    """A column's name, bare of punctuation and accents: ``ID number`` -> ``id number``, ``student_id`` -> ``student id``."""
    words = re.split(r"[\W_]+", unicodedata.normalize("NFKC", cell))
    return " ".join(filter(None, map(bare, words)))


_MEANT = merged(dict.fromkeys(map(head_of, words.split(";")), meaning) for meaning, words in _WORDS.items())


def heads_of(rows: Sequence[Sequence[str]]) -> list[str]:
    """The meaning of each column of a table: ``learner``, ``FIRST``, ``LAST``, ``IDENTIFIER`` and others; else its own head."""
    heads: list[str] = []
    for cell in rows[0]:
        head = _named(cell)
        if head == LAST and {FIRST, LAST} & {*heads} == {LAST}:
            # "Nom" is the last name in French, and the first in Catalan, where another word follows.
            heads[heads.index(LAST)] = FIRST
        if head in heads:
            head = head_of(cell)
        heads.append(head)
    if head_of("github_username") in heads:
        # The identifier of GitHub Classroom is the learner's id.
        heads = [{IDENTIFIER: "learner"}.get(head, head) for head in heads]
    alone = {FIRST, LAST} & set(heads)
    if len(alone) == 1 and not {"name", "full name"} & set(heads):
        heads[heads.index(alone.pop())] = "full name"
    is_numbered = all(_NUMBERED.fullmatch(row[0].strip()) for row in rows[1:])
    if is_numbered and {"learner", IDENTIFIER}.isdisjoint(heads) and is_filled(rows, 0):
        heads[0] = IDENTIFIER
    return heads


def _named(cell: str) -> str:
    """The meaning of a column by its head, if a language of Moodle's calls something so; else the head."""
    head = head_of(cell)
    both = {_MEANT.get(head_of(part), head_of(part)) for part in cell.split("/")}
    return "full name" if both == {FIRST, LAST} else _MEANT.get(head, head)


def is_filled(rows: Sequence[Sequence[str]], column: int) -> bool:
    """Whether at least half of the rows have a text in this column, and more than half of these texts differ."""
    said = [cell for row in rows[1:] if (cell := row[column].strip())]
    return bool(said) and len(said) * 2 >= len(rows) - 1 and len(set(said)) * 2 > len(said)

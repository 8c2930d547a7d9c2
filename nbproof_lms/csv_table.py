"""Somebody else's table: a CSV in any encoding, with any separator, that is written again as it came. The words above a column
say what the column is, in the languages that Moodle has most."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nbproof.errors import UsageError, disk_trouble
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
    """A number of points in a cell, thousands grouped in any way; None if there is none."""
    found = _NUMBER.fullmatch(text.strip())
    if not found:
        return None
    value = float(re.sub(r"\D", "", found["whole"]) + "." + (found["part"] or "0"))
    return value if value < 1e6 else None


def decimal_sign(text: str) -> str:
    """What stands before the decimals of a number in a cell; empty if nothing does, or the cell holds no number."""
    found = _NUMBER.fullmatch(text.strip())
    return found["sign"] or "" if found else ""


@dataclass(frozen=True)
class Sheet:
    """A table, and how its file was written."""

    path: Path
    rows: list[list[str]]
    encoding: str
    delimiter: str
    line_end: str
    short: tuple[str, ...] = ()
    """Lines with fewer cells than the first one; the rest of their cells is empty here."""

    @property
    def head(self) -> list[str]:
        """The names of the columns."""
        return self.rows[0]

    @property
    def doubts(self) -> list[str]:
        """What the file leaves open: none says that it is Windows' Latin-1, so that is a guess; and which cells a line lacks."""
        cells = (cell for row in (*self.rows[1:], self.head) for cell in row if not cell.isascii())
        example = next(cells, "") if self.encoding == "cp1252" else ""
        told = f"{self.path.name} is no UTF-8, and was read as Windows' Western European, such as {example!r}"
        then = "If that is not how it is written, save it as CSV (UTF-8), and run the same command again"
        few = f"fewer cells than the first line, so the last ones are taken as empty: {some_of(self.short, 8)}"
        return [f"{told}. {then}"] * bool(example) + [f"{self.path.name} has lines with {few}"] * bool(self.short)

    def columns(self, *names: str) -> tuple[int, ...]:
        """Those of the columns that are there, in the order of the names; letter case and punctuation aside."""
        heads = [bare(cell) for cell in self.head]
        return tuple(heads.index(bare(name)) for name in names if bare(name) in heads)

    def text(self, rows: Iterable[Sequence[str]]) -> bytes:
        """Rows in the form of this file. The instructor's own cells are left as they are."""
        out = io.StringIO()
        csv.writer(out, delimiter=self.delimiter, lineterminator=self.line_end).writerows(rows)
        return out.getvalue().encode(self.encoding, "replace")


def read_sheet(path: Path, what: str, option: str) -> Sheet:
    """Read a table with a head and rows. Raises UsageError, with ``what`` it is and the ``option`` that named it."""
    again = f"save it as CSV (UTF-8), and name that file: {option} FILE"
    unread = disk_trouble(UsageError, f"{what} cannot be read", path, f"choose a CSV: {option} FILE")
    with unread, path.open("rb") as file:
        data = file.read(_LARGEST + 1)
    text, encoding = _decoded(data)
    if len(data) > _LARGEST or "\0" in text or data.startswith((b"PK", b"\xd0\xcf\x11\xe0")):
        raise UsageError(f"{what} stand in a file that is no CSV", str(path), again)
    text, delimiter = _delimited(text)
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if "".join(row).strip()]
    except csv.Error as error:
        raise UsageError(f"{what} cannot be read as CSV: {error}", str(path), again) from None
    if len(rows) < 2:
        raise UsageError(f"the file of {what} {'' if rows else 'is empty: it '}holds no learner", str(path), again)
    if shifted := [delimiter.join(row)[:60] for row in rows if "".join(row[len(rows[0]) :]).strip()]:
        raise UsageError(
            f"a line has more cells than the first line has names, so nothing is taken: {some_of(shifted, 8)}",
            str(path),
            f'put quotation marks around a cell with {delimiter!r} in it, such as "King{delimiter} Ada"; then {option} FILE',
        )
    short = tuple(delimiter.join(row)[:60] for row in rows if len(row) < len(rows[0]))
    rows = [[*row, *[""] * len(rows[0])][: len(rows[0])] for row in rows]
    return Sheet(path, rows, encoding, delimiter, "\r\n" if "\r\n" in text else "\n", short)


def _delimited(text: str) -> tuple[str, str]:
    """The table itself, and what stands between its cells: Excel may say it in a line of its own before all others."""
    told = re.match(r'"?sep=(.)"?\r?\n', text, re.IGNORECASE)
    if told:
        return text[told.end() :], told[1]
    return text, max(",;\t|", key=text.lstrip().partition("\n")[0].count)


def _decoded(data: bytes) -> tuple[str, str]:
    """Text and encoding: UTF-8 with or without a mark, UTF-16 with one, or Windows' Latin-1; a zero byte for what is no text."""
    encodings = ["utf-8-sig" if data.startswith(b"\xef\xbb\xbf") else "utf-8", "cp1252"]
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
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
    """What a column of a gradebook is about, without what Canvas and Moodle put around its name."""
    return _ITEM.sub("", _SHOWN_AS.sub("", cell.strip()))


def shows(cell: str, words: Iterable[str]) -> bool:
    """Whether a column of Moodle's gradebook says that it shows grades so. ``words``: ``PERCENTAGE`` or ``LETTERS``."""
    return cell.strip().casefold().endswith(tuple(f"({word})" for word in words))


def head_of(cell: str) -> str:
    """A column's name, bare of punctuation and accents: ``ID number`` -> ``id number``, ``student_id`` -> ``student id``."""
    words = re.split(r"[\W_]+", unicodedata.normalize("NFKC", cell))
    return " ".join(filter(None, map(bare, words)))


_MEANT = {head_of(word): meant for meant, words in _WORDS.items() for word in words.split(";")}


def heads_of(rows: Sequence[Sequence[str]]) -> list[str]:
    """What the columns of a table are: ``LEARNER``, ``FIRST``, ``LAST``, ``IDENTIFIER``, or what stands above them."""
    heads: list[str] = []
    for cell in rows[0]:
        head = _named(cell)
        if head == LAST and {FIRST, LAST} & {*heads} == {LAST}:
            # "Nom" is the last name in French, and the first in Catalan, where another word follows.
            heads[heads.index(LAST)] = FIRST
        heads.append(head_of(cell) if head in heads else head)
    heads = _of_github(heads)
    alone = {FIRST, LAST} & set(heads)
    if len(alone) == 1 and not {"name", "full name"} & set(heads):
        heads[heads.index(alone.pop())] = "full name"
    found = [_NUMBERED.fullmatch(row[0].strip()) for row in rows[1:]]
    if not {"learner", IDENTIFIER} & set(heads) and all(found) and is_filled(rows, 0):
        heads[0] = IDENTIFIER
    return heads


def _of_github(heads: list[str]) -> list[str]:
    """The same; in GitHub Classroom's own roster the identifier is what the class calls its learners by."""
    is_githubs = head_of("github_username") in heads
    return ["learner" if is_githubs and head == IDENTIFIER else head for head in heads]


def _named(cell: str) -> str:
    """What a column is called, in English if some language of Moodle's calls it so."""
    head = head_of(cell)
    both = {_MEANT.get(head_of(part), head_of(part)) for part in cell.split("/")}
    if both == {FIRST, LAST}:
        return "full name"
    return _MEANT.get(head, head)


def is_filled(rows: Sequence[Sequence[str]], column: int) -> bool:
    """Whether at least half of the rows say something in this column, and more than half of what they say differs."""
    said = [cell for row in rows[1:] if (cell := row[column].strip())]
    return bool(said) and len(said) * 2 >= len(rows) - 1 and len(set(said)) * 2 > len(said)

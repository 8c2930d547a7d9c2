"""Mails as people save them (``.eml``, and ``.mbox`` with many): their attachments, and who sent them.

Nothing in a mail is believed but its bytes, and of a mailbox the order in which its mails came.
"""

from __future__ import annotations

import contextlib
import io
import mailbox
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from email import message_from_bytes
from email.header import decode_header, make_header
from email.message import Message
from email.policy import default as modern
from email.utils import mktime_tz, parsedate_tz
from pathlib import Path

from nbproof_lms.archives import MB, ArchiveEntry, Budget, NotUnpacked

__all__ = ["attachments", "is_mail", "is_mailbox"]

UNCLEAR = "somebody whose address cannot be told"
"""Who sent a mail that does not name one sender by one address."""
_LONGEST = 2_000
"""Characters of *From* that are read."""

_MAIL = re.compile(r"\.eml(?:\.txt)?(?:[ -]?\(?\d{0,3}\)?)$", re.IGNORECASE)
_MAILBOX = re.compile(r"(?:\.|^)mbox(?:[ -]?\(?\d{0,3}\)?)$", re.IGNORECASE)


def is_mail(name: str) -> bool:
    """Whether a file is called a mail."""
    return _MAIL.search(name) is not None


def is_mailbox(name: str, head: bytes) -> bool:
    """Whether a file is one of many mails: called so, or, as Thunderbird's folders, called anything and beginning so."""
    return _MAILBOX.search(name) is not None or ("." not in name and head.startswith(b"From "))


def attachments(path: Path, budget: Budget) -> Iterator[ArchiveEntry]:
    """Every attachment of a mail, or of all mails of a mailbox, with the sender's address.

    Raises NotUnpacked if there is none, or the mail is broken.
    """
    with path.open("rb") as file:
        if not is_mail(path.name) and is_mailbox(path.name, file.read(5)):
            yield from _all_mails(path, budget)
            return
        file.seek(0)
        data = file.read(budget.entry + 1)
    yield from _one_mail(data, budget)


def _all_mails(path: Path, budget: Budget) -> Iterator[ArchiveEntry]:
    """What hangs on the mails of a mailbox, each in a folder of its own: ``mail 7/x.ipynb``. One that is broken is told."""
    found = 0
    with contextlib.closing(mailbox.mbox(path, create=False)) as box:
        for number, key in enumerate(box.keys(), 1):
            place, time = f"mail {number}", None
            try:
                data = box.get_bytes(key)
                time = _delivered(box.get_file(key, from_=True).readline())
                for entry in _one_mail(data, budget):
                    found += 1
                    yield replace(entry, parts=(place, *entry.parts), time=time)
            except NotUnpacked as problem:
                if problem.status != "no notebook":  # most mails of a mailbox have nothing to do with the lesson
                    found += 1
                    yield ArchiveEntry((place,), time, problem)
    if not found:
        raise NotUnpacked("no notebook", "a mailbox without attachments")


def _delivered(line: bytes) -> datetime | None:
    """When a mail came, by the line that the receiving system put above it: ``From jane@u.edu Mon Nov 16 10:00:00 2026``."""
    told = parsedate_tz(line.decode("ascii", "replace").removeprefix("From ").partition(" ")[2])
    try:
        return datetime.fromtimestamp(mktime_tz(told), UTC) if told else None
    except (ValueError, OverflowError, OSError):
        return None


def _one_mail(data: bytes, budget: Budget) -> Iterator[ArchiveEntry]:
    if len(data) > budget.entry:
        raise NotUnpacked("not read", f"a mail of more than {budget.entry // MB} MB")
    try:
        mail = message_from_bytes(data)
        sender = _sender(mail)
        parts = [(name, part) for part in mail.walk() if not part.is_multipart() and (name := _name(part))]
    except Exception as error:  # the parser raises whatever a header or a thousand nested parts make it raise
        raise NotUnpacked("not read", f"the mail cannot be read ({type(error).__name__})") from None
    if not parts:
        raise NotUnpacked("no notebook", "a mail without attachments" + (f", from {sender}" if sender else ""))
    for name, part in parts:
        budget.files -= 1
        if budget.files < 0:
            yield ArchiveEntry(("...",), problem=NotUnpacked("not read", "the mail has too many attachments"))
            return
        try:
            content = part.get_payload(decode=True)
        except Exception:
            content = None
        if not isinstance(content, bytes):
            yield ArchiveEntry(
                (name,), problem=NotUnpacked("not read", "the attachment cannot be decoded"), sender=sender
            )
            continue
        yield ArchiveEntry((name,), None, None, sender, io.BytesIO(content), budget)


def _sender(mail: Message) -> str:
    """The address in *From*. What stands beside it, a name that the sender has chosen, may look like another address."""
    told = mail.get_all("From", [])
    if len(told) != 1:
        return UNCLEAR
    # As it came: a name whose encoded words are decoded first could bring an address, or a comma, of its own.
    found = modern.header_factory("From", " ".join(str(told[0]).split())[:_LONGEST])
    unsure = any("invalid address" in str(defect) for defect in found.defects)
    if unsure or len(found.addresses) != 1 or not found.addresses[0].domain:
        return UNCLEAR
    return str(found.addresses[0].addr_spec).lower()[:254]


def _name(part: Message) -> str:
    """The attachment's name without folders; empty for the text of the mail itself."""
    name = _text(part.get_filename()).replace("\\", "/").rsplit("/", 1)[-1]
    name = "".join(sign for sign in name if sign.isprintable()).strip()[:200]
    return "" if name in {"", ".", ".."} else name


def _text(header: object) -> str:
    """A header as text, its encoded words decoded."""
    told = str(header or "")
    try:
        return str(make_header(decode_header(told)))
    except Exception:
        return told

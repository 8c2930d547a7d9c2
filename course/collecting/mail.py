"""Mails as people save them (``.eml``): their attachments, and who sent them. Nothing in a mail is believed but its bytes."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from email import message_from_bytes
from email.header import decode_header, make_header
from email.message import Message
from email.utils import parseaddr
from pathlib import Path

from course.collecting.archives import MB, Budget, Entry, NotUnpacked

__all__ = ["attachments", "is_mail"]

_MAIL = re.compile(r"\.eml(?:\.txt)?(?:[ -]?\(?\d{0,3}\)?)$", re.IGNORECASE)


def is_mail(name: str) -> bool:
    """Whether a file is called a mail."""
    return _MAIL.search(name) is not None


def attachments(path: Path, budget: Budget) -> Iterator[Entry]:
    """Every attachment, with the sender's address. Raises NotUnpacked where there is none, or the mail is broken."""
    with path.open("rb") as file:
        data = file.read(budget.entry + 1)
    if len(data) > budget.entry:
        raise NotUnpacked("too large", f"a mail of more than {budget.entry // MB} MB")
    try:
        mail = message_from_bytes(data)
        sender = parseaddr(_text(mail.get("From")))[1].strip().lower()[:254]
        parts = [(name, part) for part in mail.walk() if not part.is_multipart() and (name := _name(part))]
    except Exception as error:  # the parser raises whatever a header or a thousand nested parts make it raise
        raise NotUnpacked("damaged", f"the mail cannot be read ({type(error).__name__})") from None
    if not parts:
        raise NotUnpacked("no notebook", "a mail without attachments" + (f", from {sender}" if sender else ""))
    for name, part in parts:
        budget.files -= 1
        if budget.files < 0:
            yield Entry(("...",), problem=NotUnpacked("too large", "the mail has too many attachments"))
            return
        try:
            content = part.get_payload(decode=True)
        except Exception:
            content = None
        if not isinstance(content, bytes):
            yield Entry((name,), problem=NotUnpacked("damaged", "the attachment cannot be decoded"), sender=sender)
            continue
        yield Entry((name,), None, None, sender, io.BytesIO(content), budget)


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

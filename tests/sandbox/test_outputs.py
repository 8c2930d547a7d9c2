"""Pictures among a submission's outputs: kept while they are small when decoded; nobody decodes them to know."""

from __future__ import annotations

import base64
import io
import struct
import zlib

import pytest
from PIL import Image

from nbproof.sandbox.outputs import Outputs


def _chunk(kind: bytes, data: bytes = b"") -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _png(width: int, height: int, *more: bytes) -> bytes:
    head = _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + b"".join(more) + _chunk(b"IDAT", zlib.compress(b"\0" * 64)) + _chunk(b"IEND")


def _made(kind: str, width: int, height: int, **how: object) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (width, height), "red").save(file, kind, **how)
    return file.getvalue()


def _shown(*pictures: tuple[str, bytes]) -> list[dict[str, str]]:
    outputs = [
        {"output_type": "display_data", "data": {kind: base64.b64encode(data).decode(), "text/plain": "<Figure>"}}
        for kind, data in pictures
    ]
    return [one["data"] for one in Outputs(5_000_000).clean(outputs, 1)]


_TWO = [Image.new("RGB", (9, 9), "blue")]

DROPPED = {
    "a JPEG": ("image/jpeg", _made("JPEG", 300, 200)),
    "decodes to 484 MB": ("image/png", _png(11_000, 11_000)),
    "a side of no end": ("image/png", _png(2**31, 1)),
    "no size": ("image/png", _png(0, 10)),
    "a second header": ("image/png", _png(10, 10, _chunk(b"IHDR", b"\0" * 13))),
    "cut off": ("image/png", _made("PNG", 640, 480)[:-20]),
    "an APNG": ("image/png", _made("PNG", 9, 9, save_all=True, append_images=_TWO)),
    "an SVG": ("image/svg+xml", b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>"),
}


def test_an_ordinary_picture_is_kept() -> None:
    picture = _made("PNG", 640, 480)
    (data,) = _shown(("image/png", picture))
    assert (base64.b64decode(data["image/png"]), data["text/plain"]) == (picture, "<Figure>")


@pytest.mark.parametrize("kind", DROPPED)
def test_a_picture_whose_size_is_too_large_or_not_known_is_left_out_with_a_line(kind: str) -> None:
    (data,) = _shown(DROPPED[kind])
    assert set(data) == {"text/plain"}
    why = "there is no room for more" if kind in ("decodes to 484 MB", "a side of no end") else "it is no plain PNG"
    assert data["text/plain"].startswith(f"<Figure>\n[a picture is left out, for {why}")


@pytest.mark.parametrize(
    "html", ["<b>hi</b>", "<p>" + "".join(f"<b a={n:x}>" for n in range(700)) + "<p>x" * 1_700, ["<b>"]]
)
def test_html_is_not_kept_in_whatever_form(html: object) -> None:
    outputs = [
        {"output_type": kind, "data": {"text/html": html, "text/plain": "said"}}
        for kind in ("display_data", "execute_result")
    ]
    assert [one["data"] for one in Outputs(5_000_000).clean(outputs, 1)] == [{"text/plain": "said"}] * 2


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"text/html": "<b>42</b><td>a &lt; b</td><img src='data:"}, "42 a < b\n"),
        (
            {"text/html": "<i>6</i>", "text/plain": "<IPython.core.display.HTML object>"},
            "<IPython.core.display.HTML object>\n6\n",
        ),
        ({"application/javascript": "f()", "text/plain": "<IPython.core.display.Javascript object>"}, "<IPython"),
        ({"text/html": ["<b>"]}, "["),
        ({"text/html": f"<b>4</b>&#{'9' * 5_000};2 &#x1F600;"}, "4 2 😀\n"),
    ],
)
def test_where_html_says_more_than_the_text_its_words_are_there_and_a_line(data: dict[str, object], words: str) -> None:
    (one,) = Outputs(5_000_000).clean([{"output_type": "display_data", "data": data}], 1)
    told = one["data"]["text/plain"]
    assert told.startswith(words) and told.endswith(
        "[HTML, JavaScript or a widget is left out; the submitted notebook has it]"
    )


def test_of_a_picture_for_which_there_is_no_room_nothing_is_read() -> None:
    output = {"output_type": "display_data", "data": {"image/png": "A" * 200}}
    said = [Outputs(room).clean([output], 1)[0]["data"]["text/plain"] for room in (199, 300)]
    assert ["no room" in said[0], "no plain PNG" in said[1]] == [True, True]


def test_all_pictures_of_a_submission_count_together() -> None:
    shown = _shown(*[("image/png", _png(2_000, 3_000))] * 5)
    assert ["image/png" in data for data in shown] == [True, True, True, False, False]

"""What a learner's cell made, on their page."""

from __future__ import annotations

from typing import Any

from nbproof.feedback.made import Made, made_in

PICTURE = "iVBORw0KGgo="
TABLE = "<table><thead><tr><th></th><th>age</th></tr></thead><tbody><tr><th>0</th><td>3&lt;4 <b>x</b></td></tr></tbody></table>"


def shown(**data: str) -> dict[str, Any]:
    data = {name.replace("_", "/"): text for name, text in data.items()}
    return {"output_type": "display_data", "data": data, "metadata": {}}


def said(text: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": text}


def test_texts_pictures_and_tables_in_their_order() -> None:
    outputs = [
        said("one\n"),
        said("two\n"),
        shown(image_png=f"{PICTURE}\n", text_plain="<Figure>"),
        shown(text_html=TABLE, text_plain="age"),
        shown(text_plain="3"),
    ]
    assert made_in(outputs, str) == (
        Made("one\ntwo"),
        Made(picture=f"data:image/png;base64,{PICTURE}"),
        Made(rows=(("", "age"), ("0", "3<4 x"))),
        Made("3"),
    )


def test_what_is_no_small_plain_table_is_told_as_text() -> None:
    long = f"<table>{'<tr><td>a</td></tr>' * 99}</table>"
    uneven = "<table><tr><td>a</td><td>b</td></tr><tr><td>a</td></tr></table>"
    spread = '<table><tr><td colspan="2">a</td></tr><tr><td>a</td></tr></table>'
    for html in (long, uneven, spread, "<p>a", "<table>", "<td>a</td>", "<tr><td>"):
        assert made_in([shown(text_html=html, text_plain="plain")], str) == (Made("plain"),)


def test_a_page_holds_few_pictures_and_no_huge_one() -> None:
    small, huge = shown(image_png=PICTURE), shown(image_png="A" * 400_001)
    assert [bool(one.picture) for one in made_in([small] * 9, str)] == [True] * 4 + [False]
    assert made_in([huge], str) == made_in([shown(image_png='"onerror="')], str) == (Made("[a picture]"),)


def test_all_words_are_made_fit_to_be_shown() -> None:
    outputs = [said("secret"), shown(text_html=TABLE.replace("age", "secret")), shown(text_plain="secret")]
    assert "secret" not in repr(made_in(outputs, lambda text: text.replace("secret", "…")))


def test_errors_are_told_elsewhere() -> None:
    error = {"output_type": "error", "ename": "E", "evalue": "", "traceback": ["E"]}
    assert made_in([error, {"output_type": "display_data", "data": None}], str) == ()

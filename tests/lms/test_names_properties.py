"""Names and the roster, on names that hypothesis draws from all of Unicode."""

from __future__ import annotations

import tempfile
import unicodedata
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from nbproof_lms.names import bare, bare_words, for_a_file, plain, why_no_learner
from nbproof_lms.roster import Member, enrol, members_of
from tests.drawn import DRAWN

SIGNS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=10)
LETTERS = st.text(st.characters(categories=["L", "M", "N"]), min_size=1, max_size=8)
IDS = SIGNS.map(lambda text: unicodedata.normalize("NFC", text)).filter(lambda text: not why_no_learner(text))


@DRAWN
@given(SIGNS)
@example("𝐉ane")
def test_a_name_made_plain_or_bare_stays_so(name: str) -> None:
    assert plain(plain(name)) == plain(name)
    assert bare(bare(name)) == bare(name)


@DRAWN
@given(LETTERS)
def test_what_nobody_sees_makes_no_other_name(name: str) -> None:
    for form in ("NFC", "NFD"):
        seen = f"  {unicodedata.normalize(form, name)} \t"
        assert plain(seen) == plain(name)
        assert bare(seen) == bare(name)


@DRAWN
@given(LETTERS, LETTERS)
def test_the_last_name_in_front_is_the_same_person(first: str, last: str) -> None:
    assert bare_words(f"{last}, {first}") == bare_words(f"{first} {last}")


@DRAWN
@given(SIGNS)
def test_who_can_be_a_learner_can_have_a_folder(name: str) -> None:
    if not why_no_learner(name):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, name, "01_first").mkdir(parents=True)
            assert [one.name for one in Path(folder).iterdir()] == [name]


@DRAWN
@given(st.text(max_size=200), st.sampled_from(["-", " "]))
def test_a_file_may_be_called_by_what_is_left_of_a_name(name: str, between: str) -> None:
    called = for_a_file(name, between)
    assert len(called) <= 80
    assert not set(called) & set('/\\:*?"<>|_\0')
    assert called == called.strip(" .")


MEMBERS = st.lists(
    st.builds(
        Member,
        IDS,
        st.just("") | st.builds("{}, {}".format, LETTERS, LETTERS) | LETTERS,
        st.just("") | st.from_regex(r"[a-z]{1,6}@u\.edu", fullmatch=True),
        st.lists(
            LETTERS | st.just("🦄") | st.from_regex(r"(id |participant |)[1-9]\d{0,5}", fullmatch=True), max_size=3
        ).map(tuple),
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda one: one.learner,
)


@DRAWN
@given(MEMBERS)
def test_a_roster_that_was_read_once_is_written_as_it_stands(members: list[Member]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        enrol(root, members)
        read = members_of(root)
        enrol(root, read)
        assert members_of(root) == read
        assert [one.learner for one in read] == [one.learner for one in members]
        for one, kept in zip(members, read, strict=True):
            # What is the id, the name or the address without its signs says nothing new.
            known = {bare(one.learner), bare(one.name), bare(one.email)}
            assert {name for name in one.also if bare(name.removeprefix("id ")) not in known} <= set(kept.also)

"""Hostile and broken archives: the harmful entry is listed with a reason, the neighbour's notebook is taken."""

from __future__ import annotations

import contextlib
import functools
import gzip
import io
import random
import stat
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from nbproof.errors import UsageError
from nbproof_lms import Collected
from nbproof_lms.archives import Budget, NotUnpacked, entries
from nbproof_lms.arrivals import take_in
from tests.lms.conftest import Collecting
from tests.lms.uploads import everything, notebook, zipped

GOOD = notebook("01_first", "good")
ZEROS = b"\0" * ((64 << 20) + 1)


def _zip(fill: Callable[[zipfile.ZipFile], None]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        fill(archive)
        archive.writestr("jane_1_2_x.ipynb", GOOD)
        archive.writestr("kim_8_9_x.ipynb", notebook("01_first", "kim"))
    return made.getvalue()


def _named(*names: str) -> Callable[[zipfile.ZipFile], None]:
    def fill(archive: zipfile.ZipFile) -> None:
        for name in names:
            archive.writestr(zipfile.ZipInfo(name), notebook("01_first", name))

    return fill


def _special(kind: int) -> Callable[[zipfile.ZipFile], None]:
    def fill(archive: zipfile.ZipFile) -> None:
        info = zipfile.ZipInfo("bob_2_3_x.ipynb")
        info.create_system, info.external_attr = 3, (kind | 0o777) << 16
        archive.writestr(info, "/etc/passwd")

    return fill


def _bomb(archive: zipfile.ZipFile) -> None:
    archive.writestr("bob_2_3_x.ipynb", ZEROS)


def _patched(at: int, value: bytes, fill: Callable[[zipfile.ZipFile], None] | None = None) -> bytes:
    """The first entry, with other bytes at an offset of both of its headers; in the table's they stand two further."""
    data = bytearray(_zip(fill or _named("bob_2_3_x.ipynb")))
    for place in (data.find(b"PK\x03\x04") + at, data.find(b"PK\x01\x02") + at + 2):
        data[place : place + len(value)] = value
    return bytes(data)


def _overlapping() -> bytes:
    """Two entries of the table that are unpacked from the same bytes."""
    data = bytearray(_zip(_named("bob_2_3_x.ipynb", "eve_3_4_x.ipynb")))
    second = data.find(b"PK\x01\x02", data.find(b"PK\x01\x02") + 4)
    data[second + 42 : second + 46] = bytes(4)
    return bytes(data)


def _learners(name: bytes, further: int = 0) -> bytes:
    """A learner's zip in a download: the name of its entry, and by how much too far its table seems to lie."""
    data = zipped({"?.ipynb": GOOD}).replace(b"?.ipynb", name)
    table = struct.pack("<I", int.from_bytes(data[-6:-2], "little") + further)
    return _zip(lambda archive: archive.writestr("bob_2_3_w.zip", data[:-6] + table + data[-2:]))


HARMFUL = {
    "dot dot": (_zip(_named("../../bob.ipynb")), "unsafe path"),
    "drive": (_zip(_named("c:\\bob.ipynb")), "unsafe path"),
    "link": (_zip(_special(stat.S_IFLNK)), "not read"),
    "bomb": (_zip(_bomb), "not read"),
    "bomb with a modest header": (_patched(22, struct.pack("<I", 10), _bomb), "not read"),
    "with a password": (_patched(6, b"\x01\x00"), "not read"),
    "unknown packing": (_patched(8, b"\x61\x00"), "not read"),
    "overlapping": (_overlapping(), "not read"),
    "before its beginning": (_learners(b"x.ipynb", 900), "not read"),
    "no name": (_learners(b"\0.ipynb"), "unsafe path"),
}


@pytest.mark.parametrize("name", HARMFUL)
def test_a_harmful_entry_harms_nobody(name: str, collecting: Collecting, course: Path, tmp_path: Path) -> None:
    data, status = HARMFUL[name]
    before = {path for path in tmp_path.rglob("*") if "course" not in path.parts}
    collected = collecting(data)
    assert (course / "submitted/jane/01_first/01_first.ipynb").read_bytes() == GOOD
    assert status in {line.status for line in collected.needs_person}, collected
    assert all(line.why for line in collected.needs_person)
    if name not in {"overlapping"}:
        assert {path.name for path in (course / "submitted").iterdir()} == {"jane", "kim"}
    assert data in everything(course / "collected").values()
    outside = {path for path in tmp_path.rglob("*") if "course" not in path.parts} - before
    assert outside == {tmp_path / "came", tmp_path / "came/upload.zip"}


@pytest.fixture
def within(monkeypatch: pytest.MonkeyPatch) -> Callable[[Budget], None]:
    """Collect within another budget."""
    return lambda budget: monkeypatch.setattr(
        "nbproof_lms.collecting.take_in", functools.partial(take_in, budget=budget)
    )


def test_the_same_bomb_in_learners_archives_harms_nobody(
    collecting: Collecting, course: Path, within: Callable[[Budget], None]
) -> None:
    within(Budget(entry=1 << 20))
    zeros = b"\0" * ((1 << 20) + 1)
    deep = GOOD
    for level in range(6):
        deep = zipped({f"{level}.zip": deep})
    files = {"bob_2_3_x.zip": zipped({"a.ipynb": zeros, "b.ipynb": zeros}), "max_4_5_x.zip": deep,
             "jane_1_2_x.ipynb": GOOD}  # fmt: skip
    collected = collecting(files)
    assert (course / "submitted/jane/01_first/01_first.ipynb").read_bytes() == GOOD
    not_read = {line.learner for line in collected.needs_person if line.status == "not read"}
    assert not_read == {"bob", "max"}


@pytest.mark.parametrize("budget", [Budget(files=30, inner_files=5), Budget(total=30_000, inner_total=5_000)])
def test_many_archives_of_one_learner_take_nothing_from_those_who_come_after(
    budget: Budget, collecting: Collecting, course: Path, within: Callable[[Budget], None]
) -> None:
    within(budget)
    bomb = zipped({f"{number}.csv": b"x" * 1_000 for number in range(5)})
    files = {"bob_2_3_x.ipynb": GOOD, **{f"bob_2_3_{number}.zip": bomb for number in range(9)}}
    collecting({**files, "jane_1_2_x.ipynb": GOOD, "kim_4_5_x.ipynb": GOOD})
    assert {path.name for path in (course / "submitted").iterdir()} == {"bob", "jane", "kim"}


def test_that_an_upload_holds_too_many_files_is_listed_and_needs_a_person(
    collecting: Collecting, within: Callable[[Budget], None]
) -> None:
    within(Budget(files=2))
    collected = collecting({"bob_1_9_x.ipynb": GOOD, "jane_2_9_x.ipynb": GOOD, "kim_3_9_x.ipynb": GOOD})
    assert ["too many files" in line.why for line in collected.needs_person] == [True]


def test_of_an_archive_no_more_is_read_than_its_budget(tmp_path: Path) -> None:
    path = tmp_path / "many.zip"
    path.write_bytes(zipped({f"{number}.ipynb": b"\0" * 1000 for number in range(300)}))
    with pytest.raises(NotUnpacked, match="too many files"):
        list(entries(path, Budget(files=100)))
    with pytest.raises(NotUnpacked, match="table of contents"):
        list(entries(path, Budget(table=1000)))
    read = 0
    with contextlib.suppress(NotUnpacked):
        for entry in entries(path, Budget(total=4500)):
            read += sum(len(piece) for piece in entry.pieces)
    assert read <= 4500


@pytest.mark.parametrize("where", ["a long record tells", "as far in front as zipfile looks"])
def test_wherever_a_table_of_contents_stands_no_more_of_it_is_read(where: str, tmp_path: Path) -> None:
    data = zipped({f"{number}.ipynb": b"" for number in range(300)})
    ends, at = data[-22:], len(data) - 22
    size, begins = struct.unpack("<LL", ends[12:20])
    if where.startswith("a long"):
        record = b"PK\x06\x06" + struct.pack("<QHHLLQQQQ", 44, 45, 45, 0, 0, 300, 300, size, begins)
        data = data[:at] + record + b"PK\x06\x07" + struct.pack("<LQL", 0, at, 1) + ends[:12] + bytes(10)
    else:
        data += b"x" * (1 << 16)
    path = tmp_path / "many.zip"
    path.write_bytes(data)
    with pytest.raises(NotUnpacked, match="table of contents"):
        list(entries(path, Budget(table=1000)))


@pytest.mark.parametrize("packing", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_packings_that_unpack_without_a_limit_are_refused(packing: int, tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", packing) as archive:
        archive.writestr("x.ipynb", b"")
    (entry,) = entries(path, Budget())
    with pytest.raises(NotUnpacked, match="unusual way"):
        list(entry.pieces)


def test_archives_in_disguise_are_named_and_data_stays_packed(collecting: Collecting, course: Path) -> None:
    files = {"jane_1_2_x.ipynb": GOOD, "bob_2_3_x.zip": gzip.compress(GOOD), "eve_3_4_x": GOOD, "kim_4_5_x.zip": GOOD,
             "lee_5_6_x.tgz": b"\x1f\x8b" + b"\0" * 60, "jane_1_8_weights.pt": zipped({"x": b"1"})}  # fmt: skip
    collected = collecting(files)
    for learner in ("jane", "eve"):
        assert (course / f"submitted/{learner}/01_first/01_first.ipynb").read_bytes() == GOOD
    assert (course / "submitted/jane/01_first/weights.pt").read_bytes() == files["jane_1_8_weights.pt"]
    endings = {line.learner: line.status for line in collected.needs_person if line.learner}
    assert endings == {"bob": "not read", "kim": "not read", "lee": "not read"}


def test_names_in_every_code_page(collecting: Collecting, course: Path) -> None:
    # As macOS packs: UTF-8 without saying so; of the same length, so that the headers stay right.
    data = zipped(
        {"Zoë/x.ipynb": GOOD, "Wrong/x.ipynb": notebook("01_first", 2), "Z0lo/x.ipynb": notebook("01_first", 3)}
    )
    collecting(data.replace(b"Wrong/", "Łós".encode() + b"/").replace(b"Z0lo/", b"Z\x94lo/"))
    assert sorted(path.name for path in (course / "submitted").iterdir()) == ["Zoë", "Zölo", "Łós"]


@pytest.mark.parametrize("seed", range(30))
def test_a_zip_with_broken_bytes_crashes_nothing(seed: int, collecting: Collecting) -> None:
    noise = random.Random(seed)
    data = bytearray(zipped({f"l{number}_{number}_1_x.ipynb": GOOD for number in range(5)}))
    for _ in range(1 + seed):
        data[noise.randrange(4, len(data))] = noise.randrange(256)
    try:
        collected: Collected = collecting(bytes(data))
    except UsageError as error:
        assert error.next_command
    else:
        assert len(collected.records) >= 1

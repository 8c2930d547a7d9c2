"""A gradebook that we make is one that nbgrader makes."""

from __future__ import annotations

from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from sqlalchemy import create_engine, inspect, text

from nbproof.gradebook.writer import create_tables
from nbproof.nbgrader_setup import course_config

ROOT = Path(__file__).parent.parent.parent


def _described(db_url: str) -> tuple[object, list[object]]:
    """Tables with their columns and keys; the version of the schema."""
    engine = create_engine(db_url)
    seen = inspect(engine)
    tables = {
        name: (
            [(column["name"], str(column["type"]), column["nullable"]) for column in seen.get_columns(name)],
            seen.get_foreign_keys(name),
            seen.get_unique_constraints(name),
        )
        for name in sorted(seen.get_table_names())
    }
    with engine.connect() as connection:
        version = [row[0] for row in connection.execute(text("SELECT version_num FROM alembic_version"))]
    engine.dispose()
    return tables, version


@pytest.mark.filterwarnings("ignore")
def test_tables_and_version_are_nbgraders(tmp_path: Path) -> None:
    course_config(ROOT)  # for PATH: nbgrader starts alembic by name
    ours, theirs = f"sqlite:///{tmp_path / 'ours.db'}", f"sqlite:///{tmp_path / 'theirs.db'}"
    create_tables(ours)
    Gradebook(theirs, "hooks").close()
    assert _described(ours) == _described(theirs)
    assert len(_described(ours)[1]) == 1

"""An empty gradebook with nbgrader's tables, quicker than nbgrader makes it."""

from __future__ import annotations

from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from nbgrader.api import Base
from nbgrader.dbutil import ALEMBIC_DIR
from sqlalchemy import create_engine

__all__ = ["create_tables"]


def create_tables(db_url: str) -> None:
    """nbgrader's tables, and the version of their schema, in an empty database. Raises SQLAlchemyError.

    nbgrader's ``Gradebook`` does the same where there are no tables, but starts the program ``alembic`` to ask for the
    version: that takes ten times as long, and wants it on PATH.
    """
    engine = create_engine(db_url)
    try:
        Base.metadata.create_all(engine)
        with engine.begin() as connection:
            MigrationContext.configure(connection).stamp(ScriptDirectory(ALEMBIC_DIR), "heads")
    finally:
        engine.dispose()

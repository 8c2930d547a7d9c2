"""One hand-in after another is marked, without a class and without a gradebook: what it brings is a verdict.

::

    with Bench.of("examples/iterators", "01_iterators") as bench:
        assert bench.mark({"take_every": "def take_every..."}).score == 2
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from nbproof.limits import GradingLimits
from nbproof.marking.blueprint import Blueprint, read_blueprint
from nbproof.marking.judge_client import Judge
from nbproof.marking.marker import mark, read_answers
from nbproof.marking.results import Verdict
from nbproof.places import course_config
from nbproof.recover.answers import Answers, OwnCell
from nbproof.sandbox.engine import Engine
from nbproof.testing.small import course_of

__all__ = ["Bench"]


@dataclass(frozen=True)
class Bench:
    """Where one lesson's hand-ins are marked, in the sealed processes of an engine that is started."""

    engine: Engine
    blueprint: Blueprint
    given: Mapping[str, str] = field(default_factory=dict)
    """The answers of every learner who is given no other ones."""

    @classmethod
    @contextmanager
    def of(cls, course: str | Path, lesson: str) -> Iterator[Bench]:
        """The bench of a lesson of a course that was built, with the limits of the course. Its engine ends with the block."""
        config, works_for = course_config(Path(course)), course_of(Path(course))
        blueprint = read_blueprint(works_for, Path(course, "source", lesson, f"{lesson}.ipynb"), config)
        with Engine(works_for, GradingLimits(config=config)) as engine:
            yield cls(engine, blueprint)

    def mark(
        self,
        answers: Mapping[str, str] | None = None,
        *own: OwnCell,
        files: dict[str, bytes] | None = None,
        seed: int = 7,
    ) -> Verdict:
        """The verdict on these answers, by the TODO cell's id; what is not named stays the stub, if it is not ``given``.

        ``own``: further cells of the learner's; ``files``: what lies beside the notebook.
        """
        return self.verdict(Answers({**self.blueprint.stubs, **self.given, **(answers or {})}, own=own), files, seed)

    def read(self, notebook: bytes) -> Answers:
        """The answers in a notebook's bytes. Raises Damaged, which says why, if there are none."""
        with self.engine.worker({}) as worker:
            return read_answers(worker, self.blueprint, notebook, {})

    def verdict(self, rebuilt: Answers, files: dict[str, bytes] | None = None, seed: int = 7) -> Verdict:
        """The verdict on answers that were read from a notebook."""
        return mark(
            self.engine, self.blueprint, Judge(self.blueprint, seed, self.engine.judge), rebuilt, "ada", files or {}
        )

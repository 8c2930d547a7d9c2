"""What this machine offers by way of isolation, in words, and the AppArmor profile that gives full isolation back."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from nbproof.command import course_command
from nbproof.sandbox.isolation import Isolation, isolation_or_refuse, offered

__all__ = ["file_says", "profile", "what_is_offered"]

_RESTRICTED = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
_NAME = "course-python"
_PAGE = "docs/engine.md, 'Isolation'"


def what_is_offered() -> str:
    """Level by level whether it is there, and why not; what is chosen; how full isolation comes back."""
    reasons = offered()
    said = {level: f"no: {reason}" if reason else "yes" for level, reason in reasons.items()}
    lines = [f"full isolation:    {said[Isolation.FULL]}", f"reduced isolation: {said[Isolation.REDUCED]}"]
    if not all(reasons.values()):
        lines.append(f"a run begins with: {isolation_or_refuse()}")
    if reasons[Isolation.FULL]:
        lines += ["", f"Full isolation needs user namespaces; {_cure()}", f"What each level holds: {_PAGE}"]
    return "\n".join(lines)


def _cure() -> str:
    if file_says(_RESTRICTED, "1"):
        return f"AppArmor forbids them here. A profile for this Python allows them: {course_command('isolation --apparmor')}"
    return f"the machine's administrator can allow them, a container's profile as well ({_PAGE})."


def file_says(path: Path, text: str) -> bool:
    try:
        return path.read_text().strip() == text
    except OSError:
        return False


def profile() -> str:
    """The profile for the interpreter of this environment, to be saved and loaded as its first lines say."""
    python = os.path.realpath(sys.executable)
    file = f"/etc/apparmor.d/{_NAME}"
    lines = [
        f"# {course_command('isolation --apparmor')} | sudo tee {file}",
        f"# sudo apparmor_parser -r {file}",
    ]
    if not python.startswith(os.path.realpath(sys.prefix)):
        lines.append(
            "# This interpreter is not the environment's own: whatever runs with it may then make user namespaces."
        )
    lines += [
        "abi <abi/4.0>,",
        "include <tunables/global>",
        "",
        f'profile {_NAME} "{python}" flags=(unconfined) {{',
        "  userns,",
        f"  include if exists <local/{_NAME}>",
        "}",
    ]
    return "\n".join(lines)

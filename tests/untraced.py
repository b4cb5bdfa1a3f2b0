"""Processes of a test whose lines are not counted: no need, or no end that could write them down.

To measure coverage costs the start of an interpreter a fifth of a second, and every line after it.
"""

from collections.abc import Mapping


def untraced(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without what makes child interpreters record coverage."""
    return {
        name: value for name, value in environ.items() if not name.startswith("COVERAGE_PROCESS")
    }

"""Bounds on text that a model wrote: how much is read, how much is repeated in a verdict."""

MAX_JUDGED_CHARACTERS = 65_536
"""Cases ask for at most 2,048 tokens: what is longer than this has left the task."""

MAX_EXCERPT_CHARACTERS = 200


def excerpt(text: str) -> str:
    """Return ``text`` as a verdict may repeat it: short, and always encodable as UTF-8."""
    if len(text) > MAX_EXCERPT_CHARACTERS:
        text = text[: MAX_EXCERPT_CHARACTERS - 1] + "…"
    # A lone surrogate can't be written to a journal.
    return text.encode("utf-8", "replace").decode("utf-8")


def tail_lines(text: str) -> list[str]:
    """Return the lines in the last ``MAX_JUDGED_CHARACTERS`` of ``text``, whole lines only."""
    if len(text) <= MAX_JUDGED_CHARACTERS:
        return text.splitlines()
    # The first line of the cut is the end of a longer one; what it begins with proves nothing.
    return text[-MAX_JUDGED_CHARACTERS:].splitlines()[1:]

"""What IFEval finds in a text's form: bullets, titles, sections, paragraphs, postscripts.

An answer may be hostile, so none of this backtracks: each function is linear in its text.
"""

import json
import re

_HIGHLIGHT = re.compile(r"\*[^\n*]*\*")
_BOLD = re.compile(r"\*\*[^\n*]*\*\*")
_DIVIDER = re.compile(r"\s?\*\*\*\s?")
_FENCES = ("```json", "```Json", "```JSON", "```")
_POSTSCRIPTS = {
    "P.S.": re.compile(r"p\.\s?s\."),
    "P.P.S": re.compile(r"p\.\s?p\.\s?s"),
}
_WORD_ENDS = re.compile(r"[.,?!'\"]")


def bullet_count(text: str) -> int:
    """Return the lines that begin with `-`, or with one `*` and something behind it.

    An asterisk alone on its line takes the next line as its text.
    """
    lines = text.split("\n")
    count, index = 0, 0
    while index < len(lines):
        line = lines[index].lstrip()
        is_last = index == len(lines) - 1
        if line.startswith("-"):
            count += 1
        elif line == "*" and not is_last:
            # Both rules may see the line that was taken.
            count += 1 + lines[index + 1].lstrip().startswith("-")
            index += 1
        elif line.startswith("*") and line[1:2] not in {"", "*"}:
            count += 1
        index += 1
    return count


def placeholder_count(text: str) -> int:
    """Return the pairs of square brackets, each within one line."""
    count = 0
    for line in text.split("\n"):
        opening = line.find("[")
        while opening >= 0 and (closing := line.find("]", opening)) >= 0:
            count += 1
            opening = line.find("[", closing)
    return count


def highlight_count(text: str) -> int:
    """Return the passages between asterisks; one in bold counts as such and as highlighted."""
    single = sum(1 for found in _HIGHLIGHT.findall(text) if found.strip("*").strip())
    bold = sum(1 for found in _BOLD.findall(text) if found[2:-2].strip())
    return single + bold


def section_count(text: str, splitter: str) -> int:
    """Return how often ``splitter`` stands before a number, as in `SECTION 3`."""
    return sum(1 for _ in re.finditer(re.escape(splitter) + r"\s?\d+", text))


def has_title(text: str) -> bool:
    """Return whether some line has text between `<<` and `>>`."""
    for line in text.split("\n"):
        opening, closing = line.find("<<"), line.rfind(">>")
        if (
            0 <= opening < closing - 2
            and line[opening : closing + 2].lstrip("<").rstrip(">").strip()
        ):
            return True
    return False


def divided_paragraphs(text: str) -> int | None:
    """Return the paragraphs between `***`; ``None`` when one in the middle is empty."""
    parts = [part.strip() for part in _DIVIDER.split(text)]
    if not all(parts[1:-1]):
        return None
    ends = parts[:1] if len(parts) == 1 else [parts[0], parts[-1]]
    return len(parts) - sum(1 for part in ends if not part)


def has_postscript(text: str, postscript_marker: str) -> bool:
    """Return whether ``postscript_marker`` stands anywhere, in capitals or not."""
    low = text.lower()
    pattern = _POSTSCRIPTS.get(postscript_marker)
    return postscript_marker.lower() in low if pattern is None else pattern.search(low) is not None


def is_json(text: str) -> bool:
    """Return whether ``text`` is JSON, perhaps in a code fence."""
    inner = text.strip()
    for fence in _FENCES:
        inner = inner.removeprefix(fence)
    try:
        json.loads(inner.removesuffix("```").strip())
    except (ValueError, RecursionError):
        return False
    return True


def has_two_answers(text: str) -> bool:
    """Return whether exactly two different answers stand around `******`."""
    parts = [part.strip() for part in text.split("******")]
    if not all(parts[1:-1]):
        return False
    answers = [part for part in parts if part]
    return len(answers) == 2 and answers[0] != answers[1]  # noqa: PLR2004


def first_word_of_paragraph(text: str, number: int) -> tuple[int, str | None]:
    """Return how many paragraphs there are, and how the ``number``-th begins.

    Paragraphs are parted by one empty line. Further empty lines make empty paragraphs, which are
    not counted but do take a number.

    Args:
        text: Any.
        number: From 1.

    Returns:
        Count, and the first word in small letters up to a mark; ``None`` where there is none.
    """
    parts = [part.strip() for part in text.split("\n\n")]
    count = sum(1 for part in parts if part)
    if not 1 <= number <= count or not parts[number - 1]:
        return count, None
    word = parts[number - 1].split(None, 1)[0].lstrip("'").lstrip('"')
    return count, _WORD_ENDS.split(word, maxsplit=1)[0].lower()

"""One spelling for each number, whatever script or grouping it was written in."""

import re
import unicodedata

MAX_NUMBER_CHARACTERS = 400

_MINUS_SIGNS = dict.fromkeys("\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d", "-")
_SEPARATORS = {
    "\u066b": ".",  # Arabic decimal separator
    "\u066c": ",",  # Arabic thousands separator
    "\uff0c": ",",
    "\uff0e": ".",
    "\uff0b": "+",
    "\u2019": "'",
}
_SIGNS = str.maketrans(_MINUS_SIGNS | _SEPARATORS)

_GROUPED = re.compile(r"[0-9]{1,3}(?:([,'_ ])[0-9]{3})(?:\1[0-9]{3})*")
_PLAIN = re.compile(r"([+-]?)([0-9]+)(?:\.([0-9]*))?")
_GROUPING = re.compile(r"[,'_ ]")


def canonical_number(text: str) -> str | None:
    r"""Return the number that ``text`` is, as plain ASCII digits; ``None`` if it is none.

    Understood: digits of any script, Unicode minus signs, thousands separators in groups of three
    (comma, apostrophe, underscore, any space, LaTeX's ``{,}`` and ``\,``), a trailing full stop,
    superfluous zeros. ``1.234`` is a decimal fraction, never a grouped 1234.
    """
    if len(text) > MAX_NUMBER_CHARACTERS:
        return None
    spelled = text.strip().replace("{,}", ",").replace("\\,", ",").translate(_SIGNS)
    ascii_text = "".join(_ascii_character(character) for character in spelled)
    sign, unsigned = _split_sign(ascii_text)
    whole, dot, fraction = unsigned.partition(".")
    if _GROUPED.fullmatch(whole):
        whole = _GROUPING.sub("", whole)
    match = _PLAIN.fullmatch(f"{whole}{dot}{fraction}")
    if match is None or match[1]:
        return None
    return _joined(sign, match[2].lstrip("0") or "0", (match[3] or "").rstrip("0"))


def _ascii_character(character: str) -> str:
    if character.isspace():
        return " "
    digit = unicodedata.decimal(character, None)
    return character if digit is None else str(digit)


def _split_sign(text: str) -> tuple[str, str]:
    if text[:1] in {"+", "-"}:
        return text[0].replace("+", ""), text[1:].lstrip()
    return "", text


def _joined(sign: str, whole: str, fraction: str) -> str:
    number = f"{whole}.{fraction}" if fraction else whole
    return number if number == "0" else f"{sign}{number}"

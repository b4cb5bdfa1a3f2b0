"""Text of a formula -> tree. GRAMMAR.md says what is what."""

import re


class ParseError(Exception):
    """The text is no formula."""

    def __init__(self, position):
        super().__init__(f"no formula: see character {position}")
        self.position = position


def parse(text):
    """Return the tree of `text`."""
    words = re.findall(r"[0-9]+|[a-z]+|[-+*/]", text)
    tree = _atom(words)
    while words:
        sign = words.pop(0)
        tree = [sign, tree, _atom(words)]
    return tree


def _atom(words):
    if not words:
        raise ParseError(0)
    word = words.pop(0)
    return ["number", int(word)] if word.isdigit() else ["name", word]

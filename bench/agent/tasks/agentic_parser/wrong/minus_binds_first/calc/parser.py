"""Text of a formula -> tree."""

import re

_WORD = re.compile(r" *([0-9]+|[a-z]+|[^ ]|$)")


class ParseError(Exception):
    """The text is no formula."""

    def __init__(self, position):
        super().__init__(f"no formula: see character {position}")
        self.position = position


def parse(text):
    reader = _Reader(text)
    tree = reader.binary(0)
    if reader.word:
        raise ParseError(reader.position)
    return tree


_LEVELS = {"+": 1, "-": 1, "*": 2, "/": 2, "%": 2, "^": 3}


class _Reader:
    def __init__(self, text):
        self.text = text
        self.end = 0
        self.take()

    def take(self):
        word = getattr(self, "word", "")
        found = _WORD.match(self.text, self.end)
        self.word, self.position, self.end = found.group(1), found.start(1), found.end()
        return word

    def expect(self, word):
        if self.word != word:
            raise ParseError(self.position)
        self.take()

    def binary(self, above):
        tree = self.atom()
        while _LEVELS.get(self.word, 0) > above:
            sign = self.take()
            level = _LEVELS[sign]
            tree = [sign, tree, self.binary(level - 1 if sign == "^" else level)]
        return tree

    def atom(self):
        if self.word == "-":
            self.take()
            return ["negative", self.atom()]
        if re.fullmatch("[0-9]+", self.word):
            return ["number", int(self.take())]
        if re.fullmatch("[a-z]+", self.word):
            name = self.take()
            if self.word != "(":
                return ["name", name]
            self.take()
            trees = []
            while self.word != ")":
                trees.append(self.binary(0))
                if self.word == ",":
                    self.take()
                elif self.word != ")":
                    raise ParseError(self.position)
            self.take()
            return ["call", name, trees]
        self.expect("(")
        tree = self.binary(0)
        self.expect(")")
        return tree

"""Text of a formula -> tree. GRAMMAR.md says what is what."""

import re

_WORD = re.compile(r" *([0-9]+|[a-z]+|[^ ]|$)")


class ParseError(Exception):
    """The text is no formula."""

    def __init__(self, position):
        super().__init__(f"no formula: see character {position}")
        self.position = position


def parse(text):
    """Return the tree of `text`."""
    reader = _Reader(text)
    tree = reader.sum()
    if reader.word:
        raise ParseError(reader.position)
    return tree


class _Reader:
    """Stands before one word; each method reads what the grammar calls by its name."""

    def __init__(self, text):
        self.text = text
        self._read(0)

    def _read(self, at):
        found = _WORD.match(self.text, at)
        self.word, self.position, self.end = found.group(1), found.start(1), found.end()

    def _take(self):
        word = self.word
        self._read(self.end)
        return word

    def _expect(self, word):
        if self.word != word:
            raise ParseError(self.position)
        self._take()

    def _left(self, signs, operand):
        tree = operand()
        while self.word and self.word in signs:
            tree = [self._take(), tree, operand()]
        return tree

    def sum(self):
        return self._left("+-", self.product)

    def product(self):
        return self._left("*/%", self.unary)

    def unary(self):
        if self.word == "-":
            self._take()
            return ["negative", self.unary()]
        return self.power()

    def power(self):
        tree = self.atom()
        if self.word == "^":
            return [self._take(), tree, self.unary()]
        return tree

    def atom(self):
        if re.fullmatch("[0-9]+", self.word):
            return ["number", int(self._take())]
        if re.fullmatch("[a-z]+", self.word):
            name = self._take()
            return ["call", name, self._arguments()] if self.word == "(" else ["name", name]
        self._expect("(")
        tree = self.sum()
        self._expect(")")
        return tree

    def _arguments(self):
        self._expect("(")
        if self.word == ")":
            self._take()
            return []
        trees = [self.sum()]
        while self.word == ",":
            self._take()
            trees.append(self.sum())
        self._expect(")")
        return trees

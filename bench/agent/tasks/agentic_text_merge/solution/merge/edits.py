"""Edits: apply, transform, compose."""


def apply(text, edit):
    """Return `text` after `edit`; ValueError where it does not fit."""
    out, at = [], 0
    for part in edit:
        if isinstance(part, str):
            out.append(part)
        else:
            if part > 0:
                out.append(text[at : at + part])
            at += abs(part)
    if at != len(text):
        raise ValueError("the edit does not fit the text")
    return "".join(out)


class _Parts:
    """The parts of an edit, from which pieces can be taken."""

    def __init__(self, edit):
        self.parts = list(reversed(edit))

    def head(self):
        return self.parts[-1] if self.parts else None

    def take(self, length):
        """Take `length` characters of the first part; return them as a part."""
        part = self.parts.pop()
        if isinstance(part, str):
            piece, rest = part[:length], part[length:]
        else:
            sign = 1 if part > 0 else -1
            piece, rest = sign * length, part - sign * length
        if rest:
            self.parts.append(rest)
        return piece


class _Edit:
    """An edit that is being made; joins parts of the same kind."""

    def __init__(self):
        self.parts = []

    def add(self, part):
        last = self.parts[-1] if self.parts else None
        if last is not None and _kind(last) == _kind(part):
            self.parts[-1] = last + part
        else:
            self.parts.append(part)


def _kind(part):
    return "insert" if isinstance(part, str) else "keep" if part > 0 else "delete"


def _size(part):
    return len(part) if isinstance(part, str) else abs(part)


def transform(a, b):
    """Return `[a2, b2]`, see SPEC.md."""
    left, right = _Parts(a), _Parts(b)
    a2, b2 = _Edit(), _Edit()
    while left.parts or right.parts:
        if isinstance(left.head(), str):
            text = left.take(len(left.head()))
            a2.add(text)
            b2.add(len(text))
        elif isinstance(right.head(), str):
            text = right.take(len(right.head()))
            a2.add(len(text))
            b2.add(text)
        elif left.head() is None or right.head() is None:
            raise ValueError("the edits fit texts of different lengths")
        else:
            length = min(abs(left.head()), abs(right.head()))
            one, other = left.take(length), right.take(length)
            if other > 0:
                a2.add(one)
            if one > 0:
                b2.add(other)
    return [a2.parts, b2.parts]


def compose(a, b):
    """Return one edit for both, see SPEC.md."""
    left, right = _Parts(a), _Parts(b)
    both = _Edit()
    while left.parts or right.parts:
        if left.head() is not None and _kind(left.head()) == "delete":
            both.add(left.take(_size(left.head())))
        elif isinstance(right.head(), str):
            both.add(right.take(len(right.head())))
        elif left.head() is None or right.head() is None:
            raise ValueError("the second edit does not fit what the first makes")
        else:
            length = min(_size(left.head()), _size(right.head()))
            made, then = left.take(length), right.take(length)
            if then > 0:
                both.add(made)
            elif not isinstance(made, str):
                both.add(then)
    return both.parts

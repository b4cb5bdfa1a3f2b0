"""Edits: apply, transform, compose."""


def apply(text, edit):
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


def _units(edit):
    for part in edit:
        if isinstance(part, str):
            yield part
        else:
            yield from [1 if part > 0 else -1] * abs(part)


def transform(a, b):
    left, right = list(_units(a)), list(_units(b))
    a2, b2 = [], []
    gone = False
    while left or right:
        if left and isinstance(left[0], str):
            text = left.pop(0)
            if not gone:
                a2.append(text)
                b2.append(len(text))
        elif right and isinstance(right[0], str):
            text = right.pop(0)
            a2.append(len(text))
            b2.append(text)
        elif not left or not right:
            raise ValueError("lengths")
        else:
            one, other = left.pop(0), right.pop(0)
            gone = other < 0 and one > 0
            if other > 0:
                a2.append(one)
            if one > 0:
                b2.append(other)
    return [a2, b2]


def compose(a, b):
    left = [unit for part in a for unit in (part if isinstance(part, str) else _units([part]))]
    right = list(_units(b))
    both = []
    while left or right:
        if left and left[0] == -1:
            both.append(left.pop(0))
        elif right and isinstance(right[0], str):
            both.append(right.pop(0))
        else:
            made, then = left.pop(0), right.pop(0)
            if then > 0:
                both.append(made)
            elif not isinstance(made, str):
                both.append(-1)
    return both

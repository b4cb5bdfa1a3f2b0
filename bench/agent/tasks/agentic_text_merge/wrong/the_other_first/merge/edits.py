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
            yield from part
        else:
            yield from [1 if part > 0 else -1] * abs(part)


def _short(units):
    parts = []
    for unit in units:
        if parts and type(parts[-1]) is type(unit) and (isinstance(unit, str) or parts[-1] * unit > 0):
            parts[-1] += unit
        else:
            parts.append(unit)
    return parts


def transform(a, b):
    left, right = list(_units(a)), list(_units(b))
    a2, b2 = [], []
    while left or right:
        if right and isinstance(right[0], str):
            a2.append(1)
            b2.append(right.pop(0))
        elif left and isinstance(left[0], str):
            b2.append(1)
            a2.append(left.pop(0))
        elif not left or not right:
            raise ValueError("lengths")
        else:
            one, other = left.pop(0), right.pop(0)
            if other > 0:
                a2.append(one)
            if one > 0:
                b2.append(other)
    return [_short(a2), _short(b2)]


def compose(a, b):
    left, right = list(_units(a)), list(_units(b))
    both = []
    while left or right:
        if left and left[0] == -1:
            both.append(left.pop(0))
        elif right and isinstance(right[0], str):
            both.append(right.pop(0))
        elif not left or not right:
            raise ValueError("lengths")
        else:
            made, then = left.pop(0), right.pop(0)
            if then > 0:
                both.append(made)
            elif not isinstance(made, str):
                both.append(-1)
    return _short(both)

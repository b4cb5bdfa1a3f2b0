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


def transform(a, b):
    """Return `[a2, b2]`, see SPEC.md."""
    # Works where only one of them changes anything.
    if all(isinstance(part, int) and part > 0 for part in b):
        return [a, [sum(len(p) if isinstance(p, str) else max(p, 0) for p in a)]]
    return [a, b]


def compose(a, b):
    """Return one edit for both, see SPEC.md."""
    raise NotImplementedError

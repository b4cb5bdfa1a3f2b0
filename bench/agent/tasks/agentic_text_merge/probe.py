from merge import edits


def apply(given):
    return edits.apply(given["text"], given["edit"])


def transform(given):
    return list(edits.transform(given["a"], given["b"]))


def compose(given):
    return edits.compose(given["a"], given["b"])

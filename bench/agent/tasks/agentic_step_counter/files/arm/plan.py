"""Plans for the arm."""


def plan(shelf, wanted):
    """Return the steps that turn `shelf` into `wanted`, see README.md."""
    slots = list(shelf)
    steps = []

    def move(taken, free):
        slots[free], slots[taken] = slots[taken], None
        steps.append([taken, free])

    for slot, label in enumerate(wanted):
        if label is None:
            continue
        if slots[slot] is not None:
            move(slot, slots.index(None))
        move(slots.index(label), slot)
    return steps

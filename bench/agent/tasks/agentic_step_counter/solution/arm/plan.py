"""Plans for the arm."""


def plan(shelf, wanted):
    """Return the steps that turn `shelf` into `wanted`, see README.md.

    Each step fills the free slot with the box that belongs there. Only where the free slot is
    where it should be at the end, a misplaced box is moved out of its way: once for each cycle.
    """
    slots = list(shelf)
    at = {label: slot for slot, label in enumerate(slots)}
    home = wanted.index(None)
    steps = []

    def move(taken, free):
        label = slots[taken]
        slots[free], slots[taken] = label, None
        at[label], at[None] = free, taken
        steps.append([taken, free])

    for slot, label in enumerate(wanted):
        while at[None] != home:
            move(at[wanted[at[None]]], at[None])
        if slots[slot] != label:
            move(slot, home)
    while at[None] != home:
        move(at[wanted[at[None]]], at[None])
    return steps

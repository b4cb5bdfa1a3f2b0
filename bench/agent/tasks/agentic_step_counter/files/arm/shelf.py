"""The shelf, and how many steps it took."""


class Impossible(Exception):
    """A step that the arm can't take."""


class Shelf:
    """Slots with boxes; counts the steps."""

    def __init__(self, slots):
        self.slots = list(slots)
        self.steps = 0

    def move(self, taken, free):
        """Take the box of one slot and put it into the free one."""
        if self.slots[taken] is None or self.slots[free] is not None:
            raise Impossible((taken, free))
        self.slots[free], self.slots[taken] = self.slots[taken], None
        self.steps += 1

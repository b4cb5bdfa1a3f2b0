import unittest

from arm.plan import plan
from arm.shelf import Shelf

# (shelf, wanted, most steps)
TASKS = [
    (["a", "b", None], ["a", "b", None], 0),
    (["b", "a", None], ["a", "b", None], 3),
    (["a", "b", None], [None, "b", "a"], 1),
    (["b", "c", "a", None], ["a", "b", "c", None], 4),
    (["b", "a", "d", "c", None], ["a", "b", "c", "d", None], 6),
]


class Plan(unittest.TestCase):
    def test_plans_are_right_and_short(self):
        for slots, wanted, most in TASKS:
            with self.subTest(slots=slots, wanted=wanted):
                shelf = Shelf(slots)
                for taken, free in plan(slots, wanted):
                    shelf.move(taken, free)
                self.assertEqual(shelf.slots, wanted)
                self.assertLessEqual(shelf.steps, most)


if __name__ == "__main__":
    unittest.main()

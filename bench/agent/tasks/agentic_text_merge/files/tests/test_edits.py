import unittest

from merge.edits import apply, compose, transform


class Edits(unittest.TestCase):
    def test_two_insertions(self):
        a, b = [1, "x", 2], [2, "y", 1]
        a2, b2 = transform(a, b)
        self.assertEqual(apply(apply("abc", a), b2), "axbyc")
        self.assertEqual(apply(apply("abc", b), a2), "axbyc")

    def test_overlapping_deletions(self):
        a, b = [-2, 1], [1, -2]
        a2, b2 = transform(a, b)
        self.assertEqual(apply(apply("abc", a), b2), "")
        self.assertEqual(apply(apply("abc", b), a2), "")

    def test_compose(self):
        a, b = [1, "x", 2], [2, -1, "y", 1]
        self.assertEqual(apply("abc", compose(a, b)), "axyc")

    def test_other_lengths(self):
        with self.assertRaises(ValueError):
            transform([1], [2])


if __name__ == "__main__":
    unittest.main()

import unittest

from parcels.quotes import quote


class Quotes(unittest.TestCase):
    def test_the_complaint(self):
        self.assertEqual(quote("nordwind", 1200, 4), 1919)

    def test_a_started_kilogram(self):
        self.assertEqual(quote("albatros", 1200, 1), 500)

    def test_a_full_kilogram(self):
        self.assertEqual(quote("corvus", 1999, 3), 750)

    def test_no_such_zone(self):
        with self.assertRaises(ValueError):
            quote("uhu", 500, 5)


if __name__ == "__main__":
    unittest.main()

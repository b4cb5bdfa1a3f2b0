import unittest

from taxi.dispatch import nearest
from taxi.fares import fare
from taxi.grid import distance
from taxi.reports.logbook import line


class Taxi(unittest.TestCase):
    def test_metres(self):
        self.assertEqual(distance((0, 0), (1200, 300)), 1500)

    def test_kilometres(self):
        self.assertEqual(distance((0, 0), (1200, 300), unit="km"), 1)

    def test_fare(self):
        self.assertEqual(fare((0, 0), (2500, 0)), 390 + 2 * 210)

    def test_nearest(self):
        self.assertEqual(nearest((0, 0), {"ann": (4000, 0), "bob": (0, 1500)}), "bob")

    def test_line(self):
        self.assertEqual(line("ann", (0, 0), (2500, 0)), "ann: 2 km")


if __name__ == "__main__":
    unittest.main()

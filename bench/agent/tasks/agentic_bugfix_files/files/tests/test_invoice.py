import unittest

from shop.invoice import invoice


def line(quantity, unit_cents, discount_percent=0, tax_percent=0):
    return {
        "quantity": quantity,
        "unit_cents": unit_cents,
        "discount_percent": discount_percent,
        "tax_percent": tax_percent,
    }


class Invoice(unittest.TestCase):
    def test_nothing_special(self):
        found = invoice([line(2, 500, tax_percent=19)])
        self.assertEqual(found, {"nets": [1000], "taxes": {"19": 190}, "total": 1190})

    def test_half_a_cent(self):
        self.assertEqual(invoice([line(1, 5, discount_percent=50)])["nets"], [3])

    def test_tax_of_three_small_lines(self):
        found = invoice([line(1, 33, tax_percent=7)] * 3)
        self.assertEqual(found["taxes"], {"7": 7})


if __name__ == "__main__":
    unittest.main()

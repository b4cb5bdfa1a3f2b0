import unittest

from rates.tiers import NotCarried, price


class Tiers(unittest.TestCase):
    def test_a_letter(self):
        self.assertEqual(price(20), 250)

    def test_a_small_parcel(self):
        self.assertEqual(price(700), 490)

    def test_a_large_parcel(self):
        self.assertEqual(price(12_000), 1_890)

    def test_too_heavy(self):
        with self.assertRaises(NotCarried):
            price(20_001)


if __name__ == "__main__":
    unittest.main()

import unittest

from bank.office import run
from bank.transfer import transfer


class Transfer(unittest.TestCase):
    def test_one(self):
        accounts = {"ann": 100, "bob": 0}
        self.assertEqual(run(accounts, [transfer("ann", "bob", 30)]), [True])
        self.assertEqual(accounts, {"ann": 70, "bob": 30})

    def test_too_much(self):
        accounts = {"ann": 10, "bob": 0}
        self.assertEqual(run(accounts, [transfer("ann", "bob", 30)]), [False])
        self.assertEqual(accounts, {"ann": 10, "bob": 0})

    def test_two_at_once(self):
        for schedule in ([0, 1] * 10, [0, 0, 1, 1] * 5, [0, 1, 1, 1, 1]):
            accounts = {"ann": 100, "bob": 0, "cem": 0}
            run(accounts, [transfer("ann", "bob", 30), transfer("ann", "cem", 20)], schedule)
            self.assertEqual(accounts, {"ann": 50, "bob": 30, "cem": 20})


if __name__ == "__main__":
    unittest.main()

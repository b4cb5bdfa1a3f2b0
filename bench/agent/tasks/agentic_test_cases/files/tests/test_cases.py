import json
import unittest
from pathlib import Path

from shares.split import split

CASES = json.loads(Path(__file__).parent.parent.joinpath("cases.json").read_text(encoding="utf-8"))


class Cases(unittest.TestCase):
    def test_there_are_enough(self):
        self.assertGreaterEqual(len(CASES), 6)

    def test_they_are_right(self):
        for case in CASES:
            with self.subTest(case=case):
                if case.get("error"):
                    with self.assertRaises(ValueError):
                        split(case["total"], case["weights"])
                else:
                    self.assertEqual(split(case["total"], case["weights"]), case["shares"])


if __name__ == "__main__":
    unittest.main()

import unittest

from machine_code.generate import generate
from machine_code.machine import run

X, Y, ONE = ["name", "x"], ["name", "y"], ["number", 1]
SUM = ["add", X, ONE]

# (formula, registers, value at x = 5 and y = 3, most instructions)
FORMULAS = [
    (["sub", X, Y], 2, 2, 3),
    (["sub", X, ["sub", Y, ONE]], 2, 3, 5),
    (["mul", SUM, ["sub", X, Y]], 3, 12, 7),
    (["sub", SUM, ["mul", X, Y]], 2, -9, 9),
]


class Generate(unittest.TestCase):
    def test_programs_are_right_and_short(self):
        for tree, registers, value, most in FORMULAS:
            with self.subTest(tree=tree, registers=registers):
                program = generate(tree, registers)
                self.assertEqual(run(program, registers, {"x": 5, "y": 3}), value)
                self.assertLessEqual(len(program), most)


if __name__ == "__main__":
    unittest.main()

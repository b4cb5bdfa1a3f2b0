import unittest

from calc.parser import ParseError, parse

ONE, TWO, THREE = (["number", number] for number in (1, 2, 3))


class Parser(unittest.TestCase):
    def test_left_to_right(self):
        self.assertEqual(parse("1-2-3"), ["-", ["-", ONE, TWO], THREE])

    def test_products_first(self):
        self.assertEqual(parse("1+2*3"), ["+", ONE, ["*", TWO, THREE]])

    def test_parentheses(self):
        self.assertEqual(parse("(1 + 2) * 3"), ["*", ["+", ONE, TWO], THREE])

    def test_power(self):
        self.assertEqual(parse("x^2"), ["^", ["name", "x"], TWO])

    def test_negative(self):
        self.assertEqual(parse("-x"), ["negative", ["name", "x"]])

    def test_call(self):
        self.assertEqual(parse("max(1, 2)"), ["call", "max", [ONE, TWO]])

    def test_error(self):
        with self.assertRaises(ParseError) as caught:
            parse("1 2")
        self.assertEqual(caught.exception.position, 2)


if __name__ == "__main__":
    unittest.main()

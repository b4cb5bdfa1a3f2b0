import unittest

from exchange.fields import BadLine, fields


class Fields(unittest.TestCase):
    def test_plain(self):
        self.assertEqual(fields("a; b ;c"), ["a", "b", "c"])

    def test_quoted(self):
        self.assertEqual(fields('"a;b";c'), ["a;b", "c"])

    def test_null_and_empty(self):
        self.assertEqual(fields('a;;""'), ["a", None, ""])

    def test_doubled_quote(self):
        self.assertEqual(fields('"say ""hi"""'), ['say "hi"'])

    def test_unclosed(self):
        with self.assertRaises(BadLine):
            fields('a;"b')


if __name__ == "__main__":
    unittest.main()

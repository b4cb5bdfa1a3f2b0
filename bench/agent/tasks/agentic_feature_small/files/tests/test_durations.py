import unittest

import durations


class Durations(unittest.TestCase):
    def test_writing(self):
        self.assertEqual(durations.format_duration(3723), "1h 2m 3s")

    def test_reading_what_was_written(self):
        for seconds in (0, 1, 60, 3723, 90_061):
            text = durations.format_duration(seconds)
            self.assertEqual(durations.parse_duration(text), seconds, text)

    def test_without_spaces(self):
        self.assertEqual(durations.parse_duration("1h30m"), 5400)

    def test_nonsense(self):
        for text in ("", "12", "h", "1h later"):
            with self.assertRaises(ValueError, msg=text):
                durations.parse_duration(text)


if __name__ == "__main__":
    unittest.main()

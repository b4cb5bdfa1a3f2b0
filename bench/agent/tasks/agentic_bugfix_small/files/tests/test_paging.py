import unittest

from pager.paging import links, page, page_count


class Paging(unittest.TestCase):
    def test_full_pages(self):
        self.assertEqual(page_count(20, 10), 2)

    def test_the_last_page_may_be_short(self):
        self.assertEqual(page_count(21, 10), 3)

    def test_a_page(self):
        self.assertEqual(page(["a", "b", "c"], 2, 2), ["c"])

    def test_links_in_the_middle(self):
        self.assertEqual(links(5, 9, 3), [4, 5, 6])

    def test_links_at_the_end(self):
        self.assertEqual(links(9, 9, 3), [7, 8, 9])


if __name__ == "__main__":
    unittest.main()

import unittest

from crm.migrate import migrate

ANN = {
    "version": 3,
    "id": "C-000007",
    "name": {"first": "Ann", "last": "Lee"},
    "emails": ["ann@example.org"],
    "born": "1990-02-01",
    "extra": {"vip": True},
}


class Migrate(unittest.TestCase):
    def test_version_1(self):
        old = {"id": 7, "name": "Ann Lee", "email": "Ann@example.org", "born": "1.2.1990", "vip": True}
        self.assertEqual(migrate([old]), {"records": [ANN], "rejected": []})

    def test_version_2(self):
        old = {
            "version": 2,
            "id": 7,
            "first": "Ann",
            "last": "Lee",
            "emails": "ann@example.org, ANN@example.org",
            "born": "01.02.1990",
            "vip": True,
        }
        self.assertEqual(migrate([old]), {"records": [ANN], "rejected": []})

    def test_version_3(self):
        self.assertEqual(migrate([ANN]), {"records": [ANN], "rejected": []})

    def test_rejects(self):
        self.assertEqual(migrate([{"version": 9}]), {"records": [], "rejected": [[0, "version"]]})


if __name__ == "__main__":
    unittest.main()

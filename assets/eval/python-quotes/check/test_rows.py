import unittest

from rows import split


class Rows(unittest.TestCase):
    def test_doubled_quotes_are_one(self):
        self.assertEqual(split('a,"he said ""no"", then left",c'), ["a", 'he said "no", then left', "c"])

    def test_the_rest_is_as_before(self):
        self.assertEqual(split('a,"b,c",'), ["a", "b,c", ""])
        self.assertEqual(split(""), [""])

#!/usr/bin/env python3
"""c_api_test.py PROGRAM WRITE_ADD_MODEL PAGE: the program of docs/c-api.md does what the page says.

PROGRAM is what the page's code was compiled to; WRITE_ADD_MODEL writes a file that adds 1.5.
"""

import array
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM, WRITE_ADD_MODEL, PAGE = sys.argv[1:4]


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


class Program(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.model = os.path.join(folder.name, "add.bmodel")
        self.input = os.path.join(folder.name, "x.f32")
        subprocess.run([WRITE_ADD_MODEL, self.model], check=True)
        with open(self.input, "wb") as file:
            array.array("f", range(60)).tofile(file)

    def test_prints_what_the_page_shows(self):
        result = run(PROGRAM, self.model, self.input)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        with open(PAGE, encoding="utf-8") as page:
            self.assertIn(f"```\n{result.stdout}```\n", page.read())

    def test_inputs_without_a_file_are_zero(self):
        result = run(PROGRAM, self.model)
        self.assertIn("number 0, 1.5\n", result.stdout)

    def test_errors_are_one_line(self):
        for arguments, part in ((["none.bmodel"], "none.bmodel"), ([self.model, "none.f32"], "none.f32")):
            result = run(PROGRAM, *arguments)
            self.assertEqual((result.returncode, result.stderr.count("\n")), (1, 1), result.stderr)
            self.assertIn(part, result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

#!/usr/bin/env python3
"""All tests of the double. With MACO_GITHUB_OPENAPI, also its GitHub bodies against the published schema."""
from __future__ import annotations

import os
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent


class OpenApi(unittest.TestCase):
    @unittest.skipUnless("MACO_GITHUB_OPENAPI" in os.environ,
                         "MACO_GITHUB_OPENAPI does not name the OpenAPI file, see README.md")
    def test_bodies_are_as_published(self) -> None:
        done = subprocess.run([sys.executable, "-B", str(HERE / "openapi_check.py"),
                               os.environ["MACO_GITHUB_OPENAPI"]], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


def load_tests(loader: unittest.TestLoader, own: unittest.TestSuite, _pattern: object) -> unittest.TestSuite:
    return unittest.TestSuite([loader.discover(str(HERE), "test_*.py"), own])


if __name__ == "__main__":
    unittest.main()

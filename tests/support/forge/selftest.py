#!/usr/bin/env python3
"""All tests of the double; openapi_check.py has those of its GitHub bodies."""
from __future__ import annotations

import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent


def load_tests(loader: unittest.TestLoader, own: unittest.TestSuite, _pattern: object) -> unittest.TestSuite:
    return unittest.TestSuite([loader.discover(str(HERE), "test_*.py"), own])


if __name__ == "__main__":
    unittest.main()

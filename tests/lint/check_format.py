#!/usr/bin/env python3
# Every C++ file is formatted as .clang-format says, by clang-format 14: other versions differ.
# Usage: check_format.py ROOT [CLANG_FORMAT]
import subprocess
import sys

import source_tree


def main(root, program):
    findings = []
    for path in source_tree.sources(root):
        done = subprocess.run([program, "--dry-run", "-Werror", path], cwd=root,
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            first = (done.stderr.strip() or "failed").split("\n")[0]
            findings.append(f"{path}: not formatted ({first})")
    source_tree.finish(findings, "format")


main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "clang-format-14")

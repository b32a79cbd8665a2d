#!/usr/bin/env python3
# Names that say nothing, files that do not say their duty, headers without #pragma once.
# Usage: check_names.py ROOT. Rules: CONTRIBUTING.md.
import os
import re
import sys

import source_tree

BANNED = re.compile(r"^(utils?|misc|helpers?|part\d+)$")


def words(name):
    return re.split(r"[^A-Za-z0-9]+", name.lower())


def check_name(path):
    for part in path.split("/"):
        for word in words(part):
            if BANNED.match(word):
                return f"'{part}' says nothing about what is in it"
    return None


def check_source(path, lines):
    if not re.match(r"// \S.{10,}", lines[0]):
        return "the first line is not '// ' and the file's duty"
    if path.endswith(".h"):
        rest = [line for line in lines if line and not line.startswith("//")]
        if not rest or rest[0] != "#pragma once":
            return "the first line of code is not '#pragma once'"
    return None


def check_script(lines):
    for line in lines[:3]:
        if re.match(r'(#(?!!)|""")\s*\S.{10,}', line):
            return None
    return "the first three lines do not say its duty"


def is_script(path, lines):
    return path.endswith((".sh", ".py", ".cmake")) or os.path.basename(path) == "CMakeLists.txt" or (
        bool(lines) and lines[0].startswith("#!"))


def main(root):
    findings = []
    for path in source_tree.files(root):
        wrong = check_name(path)
        if wrong:
            findings.append(f"{path}: {wrong}")
        lines = source_tree.text(root, path).split("\n")
        if path.endswith((".cc", ".h")):
            wrong = check_source(path, lines)
        elif is_script(path, lines):
            wrong = check_script(lines)
        else:
            continue
        if wrong:
            findings.append(f"{path}: {wrong}")
    source_tree.finish(findings, "names")


main(sys.argv[1])

#!/usr/bin/env python3
# The usage that each built program prints with -h equals the SYNOPSIS of its manual page.
# Usage: check_help.py ROOT BIN_DIR. The page of maco-NAME is maco-NAME(1) or git-maco-NAME(1).
import os
import re
import subprocess
import sys

import source_tree

# Started by maco-run only, or only by tests: nobody looks for their help.
NOT_FOR_PEOPLE = {"maco-guardian", "maco-run-omit"}
START = re.compile(r"^(git maco|maco-[a-z]+)\b")


def synopses(lines):
    """Joins continued lines; one text with single blanks for each way to call the program."""
    out = []
    for line in lines:
        words = " ".join(line.split())
        if START.match(words):
            out.append(words)
        elif words and out:
            out[-1] += " " + words
    return out


def usage(program):
    done = subprocess.run([program, "-h"], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=60, check=False)
    lines = []
    for line in (done.stdout or done.stderr).split("\n"):
        if not line.strip() and lines:
            break
        lines.append(re.sub(r"^\s*(usage|or):", "", line))
    return synopses(lines)


def plain(line):
    line = re.sub(r"\\f(\[[A-Za-z]*\]|.)", "", line)
    line = line.replace(r"\-", "-").replace(r"\ ", " ").replace(r"\&", "").replace(r"\e", "\\")
    return re.sub(r'^\.(B|I|BR|BI|IR|RB|IB|RI)\s+', "", line)


def page_text(folder, name):
    """The page, or what it leads to by .so; None if there is none."""
    path = os.path.join(folder, name + ".1")
    if not os.path.isfile(path):
        return None
    with open(path, encoding="utf-8") as file:
        text = file.read()
    so = re.match(r"\.so man1/(\S+)\.1\s*$", text)
    return page_text(folder, so.group(1)) if so else text


def synopsis(page):
    match = re.search(r'^\.SH "?SYNOPSIS"?\n(.*?)(?=^\.SH )', page, re.S | re.M)
    if not match:
        return []
    return synopses(plain(line) for line in match.group(1).split("\n")
                    if not line.startswith((".\\\"", ".nf", ".fi", ".PP", ".br", ".sp")))


def check(folder, bin_dir, name):
    verb_page = name if name.startswith("git-") else "git-" + name
    if page_text(folder, verb_page) is None:
        yield f"{name}: docs/man/{verb_page}.1 is missing"
        return
    page = page_text(folder, name) or page_text(folder, verb_page)
    printed, written = usage(os.path.join(bin_dir, name)), synopsis(page)
    if not printed:
        yield f"{name}: -h prints no usage"
    elif printed != written:
        yield f"{name}: -h and SYNOPSIS differ:\n  -h:       {printed}\n  SYNOPSIS: {written}"


def main(root, bin_dir):
    findings = []
    names = sorted(entry.name for entry in os.scandir(bin_dir)
                   if entry.is_file() and entry.name not in NOT_FOR_PEOPLE)
    if not names:
        findings.append(f"{bin_dir}: no programs; build first")
    for name in names:
        findings += check(os.path.join(root, "docs/man"), bin_dir, name)
    source_tree.finish(findings, f"help of {', '.join(names)}")


main(sys.argv[1], sys.argv[2])

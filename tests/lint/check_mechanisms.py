#!/usr/bin/env python3
# Each mechanism in one place: durability, locks, MACs, record framing, starting programs.
# Usage: check_mechanisms.py ROOT. Tests are free: they attack these very mechanisms.
import re
import sys

import source_tree

# What it is, the code that gives it away, the files (or folders, with a slash) that may have it.
MECHANISMS = [
    ("a flush to disk",
     r"\b(fsync|fdatasync|syncfs|sync_file_range)\s*\(|SYS_f(data)?sync",
     ("libcommon/os/fd.cc",)),
    ("a rename",
     r"\brename(at2?)?\s*\(|SYS_rename|filesystem::rename",
     # A probe tries what a target must not be able to do.
     ("libcommon/os/directory.cc", "libcommon/os/atomic_file.cc", "maco-run/guardian/probes.cc")),
    ("a file lock",
     r"\bF_(OFD_)?(SETLK|SETLKW|GETLK)\b|\b(flock|lockf)\s*\(",
     ("libcommon/os/ofd_lock.cc",)),
    ("cryptography",
     r"\b(EVP_|HMAC|SHA\d+_|RAND_|CRYPTO_)\w*",
     ("libcommon/auth/mac.cc",)),
    ("the framing of records",
     r'#include "libcommon/log/log_(codec|format|scan)\.h"',
     ("libcommon/log/",)),
    ("a program started",
     r"\b(posix_spawnp?|popen|system|vfork)\s*\(",
     ("libcommon/os/spawn.cc",)),
    ("a program executed",
     r"\b(exec(v|ve|vp|vpe|l|lp|le|veat)|fexecve)\s*\(|SYS_exec",
     ("maco-run/guardian/", "git-maco/dispatch.cc")),
    ("a process forked",
     r"\b(fork|clone)\s*\(|SYS_(fork|clone)",
     ("maco-run/guardian/",)),
]
# Strings count here.
GIT = ("git looked up or executed", r'"(git|[^"\n]*/git)"', ("libcommon/git/", "libcommon/effect/effect_row.h"))


def allowed(path, places):
    return any(path.startswith(place) if place.endswith("/") else path == place
               for place in places)


def scan(path, lines, mechanism):
    what, pattern, places = mechanism
    if allowed(path, places):
        return
    for number, line in enumerate(lines, 1):
        if re.search(pattern, line):
            yield f"{path}:{number}: {what}; that is only in {', '.join(places)}"


def main(root):
    findings = []
    for path in source_tree.sources(root):
        if path.startswith("tests/"):
            continue
        source = source_tree.text(root, path)
        lines = source_tree.without_strings(source).split("\n")
        for mechanism in MECHANISMS:
            findings += scan(path, lines, mechanism)
        findings += scan(path, source_tree.code(source).split("\n"), GIT)
    source_tree.finish(findings, "mechanisms")


main(sys.argv[1])

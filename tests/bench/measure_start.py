#!/usr/bin/env python3
# How long `git-maco --version` takes against `git --version`, and what maco-run links, as JSON.
# Usage: measure_start.py BIN_DIR ROUNDS
import json
import os
import re
import shutil
import subprocess
import sys

import rounds

STARTS = 100  # for each sample


def libraries(program):
    """All that is loaded with it, also by other libraries."""
    printed = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    return sorted(re.findall(r"^\s*(?:\S*/)?(\S+\.so\S*)", printed, re.M))


def main(bin_dir, count):
    ours = [os.path.join(bin_dir, "git-maco"), "--version"]
    git = [shutil.which("git"), "--version"]
    samples = rounds.interleaved(count, lambda: rounds.timed_starts(ours, STARTS),
                                 lambda: rounds.timed_starts(git, STARTS))
    json.dump({
        "bench": "start",
        "comparison": rounds.comparison(samples, ["git-maco --version", "git --version"]),
        "libraries": {"maco-run": libraries(os.path.join(bin_dir, "maco-run"))},
        "samples": samples,
    }, sys.stdout)


main(sys.argv[1], int(sys.argv[2]))

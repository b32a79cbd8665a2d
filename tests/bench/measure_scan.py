#!/usr/bin/env python3
# Our tree scan against find with the same tests, and the scan's peak memory, as JSON.
# Usage: measure_scan.py BIN_DIR ROUNDS. Needs no systemd; makes its trees in memory if there is room.
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

import rounds

FILES = 200_000
ENTRIES = 1_000_000
FILES_IN_DIRECTORY = 50
DIRECTORIES_IN_DIRECTORY = 100
# What must not be there; -xdev is the device. In a writable root also files with another name.
KINDS = "-type s -o -type p -o -type b -o -type c"
READ_ONLY = f"( {KINDS} ) -print".split()
WRITABLE = f"( {KINDS} -o -type f -links +1 ) -print".split()


@contextlib.contextmanager
def place():
    """A directory for trees: 1,000,000 empty files take about 1 GiB of a tmpfs."""
    shared = "/dev/shm"
    room = os.path.isdir(shared) and shutil.disk_usage(shared).free > 4 << 30
    folder = tempfile.mkdtemp(prefix="maco-bench.", dir=shared if room else None)
    try:
        yield folder
    finally:
        subprocess.run(["rm", "-rf", folder], check=True)


def directory_names():
    number = 0
    while True:
        yield f"{number // DIRECTORIES_IN_DIRECTORY:03}/{number % DIRECTORIES_IN_DIRECTORY:02}"
        number += 1


def make_tree(folder, entries):
    """`entries` entries at least, of which all but the directories are empty files."""
    made = 0
    for name in directory_names():
        path = os.path.join(folder, name)
        made += 1 + (not os.path.isdir(os.path.dirname(path)))
        os.makedirs(path)
        for number in range(FILES_IN_DIRECTORY):
            os.mknod(f"{path}/file{number}")
        made += FILES_IN_DIRECTORY
        if made >= entries:
            return


def make_directories(folder, entries):
    """The longest list of what is still to be visited: all side by side."""
    for number in range(entries):
        os.mkdir(f"{folder}/directory{number}")


def make_linked(folder, entries):
    """Two trees of the same files, as cp -al makes them: each is remembered until its other name is met."""
    make_tree(os.path.join(folder, "one"), entries // 2)
    subprocess.run(["cp", "-al", f"{folder}/one", f"{folder}/two"], check=True)


def scan(command, folder):
    printed = subprocess.run([*command, folder], check=True, capture_output=True, text=True).stdout
    entries, directories, files, _, resident_kib = map(int, printed.split())
    return {"entries": entries, "directories": directories, "files": files,
            "resident_kib": resident_kib}


def compare(command, tests, folder, count):
    find = ["find", folder, "-xdev", *tests]
    samples = rounds.interleaved(count, lambda: rounds.timed([*command, folder]),
                                 lambda: rounds.timed(find))
    result = rounds.comparison(samples, ["scan-tree", "find"])
    return {"counts": scan(command, folder), **result, "samples": samples}


def main(bin_dir, count):
    program = os.path.join(bin_dir, "bench/scan-tree")
    out = {"bench": "scan", "comparisons": {}, "memory": {}}
    with place() as folder:
        make_tree(folder, FILES + FILES // FILES_IN_DIRECTORY)
        out["comparisons"]["read-only root"] = compare([program], READ_ONLY, folder, count)
        out["comparisons"]["writable root"] = compare([program, "-w"], WRITABLE, folder, count)
    for name, make in (("files", make_tree), ("directories", make_directories),
                       ("linked copy", make_linked)):
        with place() as folder:
            make(folder, ENTRIES)
            out["memory"][name] = scan([program, "-w"], folder)
    json.dump(out, sys.stdout)


main(sys.argv[1], int(sys.argv[2]))

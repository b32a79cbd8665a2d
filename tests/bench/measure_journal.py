#!/usr/bin/env python3
# The authenticated log against bare calls, SQLite and libcrypto, as JSON: appends, groups, opening, verifying.
# Usage: measure_journal.py BIN_DIR ROUNDS. Needs about 2 GiB on the disk of $TMPDIR, which must be a real one.
import json
import os
import subprocess
import sys
import tempfile

import rounds

APPENDS = 200           # in each sample
SIZE = 512              # bytes of a record's payload
GROUP_RECORDS = 10_000
LARGE = 4032            # with its frame a record takes 4096 bytes
LARGE_RECORDS = 261_000  # 1 GiB, nearly: the most that a log may hold
SMALL_RECORDS = 200_000


class Programs:
    def __init__(self, bin_dir, folder):
        self.bin_dir, self.folder = bin_dir, folder

    def numbers(self, program, *arguments):
        command = [os.path.join(self.bin_dir, "bench", program), *map(str, arguments)]
        printed = subprocess.run(command, cwd=self.folder, check=True, capture_output=True, text=True)
        return [float(number) for number in printed.stdout.split()]

    def seconds(self, *arguments):
        return self.numbers("journal-cost", *arguments)[0]


def versus(count, us, peer, names):
    samples = rounds.interleaved(count, us, peer)
    return {**rounds.comparison(samples, names), "samples": samples}


def alone(count, sample):
    samples = [sample() for _ in range(count)]
    return {**rounds.spread(samples), "samples": samples}


def measure_appends(programs, count):
    def us():
        return programs.seconds("append", APPENDS, SIZE) / APPENDS
    return {
        "bare": versus(count, us, lambda: programs.seconds("bare", APPENDS, SIZE) / APPENDS,
                       ["append", "two writes, a flush"]),
        "sqlite": versus(count, us, lambda: programs.numbers("sqlite-cost", APPENDS, SIZE)[0] / APPENDS,
                         ["append", "SQLite WAL, FULL"]),
    }


def measure_verify(programs, count, records, size):
    """Of the log that is there, against one MAC for each record of the same size by libcrypto alone."""
    programs.numbers("journal-cost", "verify", 1)  # into the page cache
    resident = {}

    def verify(threads):
        seconds, kib = programs.numbers("journal-cost", "verify", threads)
        resident[threads] = max(kib, resident.get(threads, 0))
        return seconds
    one = versus(count, lambda: verify(1), lambda: programs.seconds("hmac", records, size),
                 ["verify, 1 thread", "libcrypto HMAC"])
    two = versus(count, lambda: verify(2), lambda: verify(1), ["verify, 2 threads", "verify, 1 thread"])
    return {"bytes": records * (size + 64), "one": one, "two": two, "resident_kib": resident}


def main(bin_dir, count):
    out = {"bench": "journal"}
    with tempfile.TemporaryDirectory(prefix="maco-bench.") as folder:
        programs = Programs(bin_dir, folder)
        out["appends"] = measure_appends(programs, count)
        out["group"] = {"records": GROUP_RECORDS,
                        **alone(count, lambda: programs.seconds("group", GROUP_RECORDS, SIZE))}
        programs.seconds("group", SMALL_RECORDS, SIZE)
        out["verify"] = {str(SIZE): measure_verify(programs, count, SMALL_RECORDS, SIZE)}
        programs.seconds("group", LARGE_RECORDS, LARGE)
        out["open"] = {"bytes": os.path.getsize(os.path.join(folder, "log")),
                       **alone(count, lambda: programs.seconds("open"))}
        out["verify"][str(LARGE)] = measure_verify(programs, count, LARGE_RECORDS, LARGE)
    json.dump(out, sys.stdout)


main(sys.argv[1], int(sys.argv[2]))

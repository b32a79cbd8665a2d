#!/usr/bin/env python3
"""Replays what dm-log-writes recorded onto a fresh copy of a disk, point by point, and runs a check at each.
usage: replay_writes.py mark|write RECORD BASE TARGET COMMAND [ARGUMENT]...
RECORD: the device with the record; BASE: what the disk held before; TARGET: gets each state in turn.
A point is each mark; or each write, and before it the state in which only its first block was written: a
disk may tear a write, and the kernel merges those of pages that lie side by side. COMMAND gets MARK, the text of the last mark.
Its status 1 is a failed point, any other one than 0 an error. Prints the points that failed, then how many
there were; status 1 if any failed, 3 if there is none.
The format is that of Linux, drivers/md/dm-log-writes.c: no write is in it before a flush that follows it."""
import os
import struct
import subprocess
import sys

MAGIC = 0x6a736677736872
DISCARD, MARK = 1 << 2, 1 << 3
BLOCK = 4096
UNIT = 512  # of the sectors of an entry, and the place of each entry


def entries(record):
    """(flags, offset, data) of each entry: data is what was written, or the text of a mark."""
    magic, version, count, unit = struct.unpack("<QQQI", record.read(UNIT)[:28])
    if magic != MAGIC or version != 1 or unit != UNIT:
        raise RuntimeError("no record of dm-log-writes")
    for _ in range(count):
        block = record.read(UNIT)
        sector, sectors, flags, length = struct.unpack("<QQQQ", block[:32])
        if flags & MARK:
            yield flags, 0, block[32:32 + length].rstrip(b"\0")
        elif flags & DISCARD:
            yield flags, sector * UNIT, bytes(sectors * UNIT)
        else:
            yield flags, sector * UNIT, record.read(sectors * UNIT)


def check(disk, target, command, mark):
    with open(target, "r+b", buffering=0) as file:
        file.write(disk)
        os.fsync(file.fileno())
    done = subprocess.run(command, env={**os.environ, "MARK": mark}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    said = done.stdout.decode(errors="replace")
    if done.returncode not in (0, 1):
        raise RuntimeError(f"the check ended with {done.returncode}: {said}")
    return done.returncode == 0, said


def main(step, record, base, target, *command):
    with open(base, "rb") as file:
        disk = bytearray(file.read())
    points, failed, mark = 0, 0, "0"
    with open(record, "rb") as file:
        for number, (flags, offset, data) in enumerate(entries(file)):
            if flags & MARK:
                mark = data.decode()
                if mark == "dm-log-writes-end":
                    break
            # States to check, each with more of this entry.
            lengths = [0] if flags & MARK else [len(data)] if len(data) <= BLOCK else [BLOCK, len(data)]
            for length in lengths:
                if offset + length > len(disk):
                    raise RuntimeError("an entry beyond the end of the disk")
                disk[offset:offset + length] = data[:length]
                if bool(flags & MARK) != (step == "mark"):
                    continue
                good, said = check(disk, target, list(command), mark)
                points += 1
                if not good:
                    failed += 1
                    print(f"entry {number}, {length} bytes of it, after mark {mark}: {said.strip()}")
    print(f"{step}: {points} points, {failed} failed")
    return 3 if points == 0 else 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

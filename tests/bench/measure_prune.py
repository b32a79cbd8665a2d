#!/usr/bin/env python3
# What it costs to verify and delete finalized runs, against sha256sum and rm -rf of the same tree; JSON.
# Usage: measure_prune.py BIN_DIR ROUNDS
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import rounds

RUNS = 100
FILES = 1000
EVENTS = ["run_planned", "command_started", "command_completed", "run_finalized"]


class Bench:
    def __init__(self, bin_dir, scratch):
        self.bin_dir, self.scratch, self.count = bin_dir, scratch, 0
        os.environ.update(HOME=scratch, GIT_CONFIG_NOSYSTEM="1")
        self.resident_kib = []

    def world(self):
        """A repository with finalized runs, all of it flushed, so that neither side pays for that."""
        self.count += 1
        path = os.path.join(self.scratch, f"world{self.count}")
        subprocess.run(["git", "init", "-q", path], check=True)
        subprocess.run([os.path.join(self.bin_dir, "git-maco"), "init", "-q"], cwd=path, check=True,
                       stdout=subprocess.DEVNULL)
        fixture = [os.path.join(self.bin_dir, "support", "state_fixture"), ".git", "run", f"files={FILES}", *EVENTS]
        for _ in range(RUNS):
            subprocess.run(fixture, cwd=path, check=True, stdout=subprocess.DEVNULL)
        os.sync()
        return path

    def us(self):
        path = self.world()
        seconds, kib = self.prune(path)
        self.resident_kib.append(kib)
        if os.listdir(os.path.join(path, ".git", "maco", "runs")):
            raise RuntimeError("runs were left")
        return seconds

    def prune(self, path):
        start = time.monotonic()
        child = subprocess.Popen([os.path.join(self.bin_dir, "maco-prune"), "--keep", "0", "-z"], cwd=path,
                                 stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            raise RuntimeError("maco-prune failed")
        return time.monotonic() - start, usage.ru_maxrss

    def peer(self):
        """One after the other, as a shell does it."""
        runs = os.path.join(self.world(), ".git", "maco", "runs")
        return rounds.timed(["sh", "-c", "find . -type f -print0 | xargs -0 sha256sum >/dev/null && rm -rf ./*"], runs)

    def pruned_alone(self, discard):
        """Deletion of the same files without verification, by us or by rm."""
        path = self.world()
        maco = os.path.join(path, ".git", "maco")
        quarantine = os.path.join(maco, "quarantine")
        os.mkdir(quarantine, 0o700)
        names = []
        for number, run in enumerate(sorted(glob.glob(os.path.join(maco, "runs", "*")))):
            names.append(f"entry{number}")
            os.rename(run, os.path.join(quarantine, names[-1]))
        os.sync()
        if discard:
            return rounds.timed([os.path.join(self.bin_dir, "maco-prune"), "discard", *names], path)
        return rounds.timed(["rm", "-rf", *names], quarantine)


def main(bin_dir, count):
    # Nothing is deleted by Python while it measures: see the README on inodes that were freed.
    scratch = tempfile.mkdtemp()
    kind = subprocess.run(["stat", "-f", "-c", "%T", scratch], check=True, capture_output=True,
                          text=True).stdout.strip()
    try:
        bench = Bench(os.path.abspath(bin_dir), scratch)
        whole = rounds.interleaved(count, bench.us, bench.peer, warm_up=1)
        alone = rounds.interleaved(count, lambda: bench.pruned_alone(True), lambda: bench.pruned_alone(False), warm_up=1)
        json.dump({"bench": "prune", "filesystem": kind, "files": RUNS * (FILES + 2),
                   "whole": rounds.comparison(whole, ["git maco prune", "sha256sum, rm -rf"]),
                   "alone": rounds.comparison(alone, ["prune discard", "rm -rf"]),
                   "resident_kib": max(bench.resident_kib)}, sys.stdout)
    finally:
        shutil.rmtree(scratch)


main(sys.argv[1], int(sys.argv[2]))

#!/usr/bin/env python3
# A verified run of `true` against systemd-run with the same unit properties, as JSON.
# Usage: measure_run.py BIN_DIR ROUNDS, where a user manager is: in a guest, or on a host that qualifies.
import json
import os
import statistics
import subprocess
import sys
import tempfile

import rounds

FILES = 1000
# What is not called the same in systemd-run: see the transient settings in systemd's sources.
RENAMED = {"RuntimeMaxUSec": "RuntimeMaxSec", "TimeoutStopUSec": "TimeoutStopSec"}


def settings(name, value):
    """The values of systemd-run's -p for one property as evidence.md has it."""
    if isinstance(value, bool):
        return [f"{name}={'yes' if value else 'no'}"]
    if name == "UMask":
        return [f"{name}={value:04o}"]
    if name == "CPUQuotaPerSecUSec":
        return [f"CPUQuota={value // 10000}%"]
    if name in RENAMED:
        return [f"{RENAMED[name]}={value}us"]
    if not isinstance(value, list):
        return [f"{name}={value}"]
    out = []
    for item in value:
        if isinstance(item, str):
            out.append(f"{name}={item}")
        elif name == "TemporaryFileSystem":
            out.append(f"{name}={item['path']}:{item['options']}")
        else:
            missing = "-" if item["ignore_missing"] else ""
            mode = "rbind" if item["recursive"] else "norbind"
            out.append(f"{name}={missing}{item['source']}:{item['target']}:{mode}")
    return out


def peer_command(properties):
    command = ["systemd-run", "--user", "--wait", "--pipe", "--collect", "-q"]
    for name, value in sorted(properties.items()):
        for setting in settings(name, value):
            command += ["-p", setting]
    return command + ["true"]


def make_repository(folder, bin_dir):
    for number in range(FILES):
        path = os.path.join(folder, f"dir{number // 20:02}", f"file{number}")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"content {number}\n")
    identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.invalid"]
    for command in (["git", "init", "-q"], ["git", "add", "."],
                    ["git", *identity, "commit", "-q", "-m", "first"],
                    [os.path.join(bin_dir, "git-maco"), "init"]):
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)


class Us:
    """Our side; remembers each run's evidence, and how long the caller waited for it."""

    def __init__(self, folder, bin_dir):
        self.folder = folder
        self.runs = os.path.join(folder, ".git/maco/runs")
        self.command = [os.path.join(bin_dir, "maco-run"), "--", "true"]
        self.seen = set()
        self.phases = []

    def evidence(self):
        new = set(os.listdir(self.runs)) - self.seen
        self.seen |= new
        with open(os.path.join(self.runs, new.pop(), "trusted/evidence.json"),
                  encoding="utf-8") as file:
            return json.load(file)

    def sample(self):
        seconds = rounds.timed(self.command, self.folder)
        document = self.evidence()
        if not document["publishable"]:
            raise RuntimeError(f"not verified: {document['reasons']}")
        self.phases.append(phases(document["measurements"]["timings_us"], seconds))
        return seconds


def phases(moments, seconds):
    """Seconds between the moments of evidence.md, in order; what lies around them is 'outside'."""
    out, before = {}, 0
    for name, moment in sorted(moments.items(), key=lambda item: item[1]):
        out[name] = (moment - before) / 1e6
        before = moment
    out["outside"] = seconds - before / 1e6
    return out


def main(bin_dir, count):
    with tempfile.TemporaryDirectory(dir=os.path.expanduser("~")) as folder:
        make_repository(folder, bin_dir)
        us = Us(folder, bin_dir)
        rounds.timed(us.command, folder)
        peer = peer_command(us.evidence()["requested"]["properties"])
        samples = rounds.interleaved(count, us.sample, lambda: rounds.timed(peer, folder))
        measured = us.phases[-count:]
        json.dump({
            "bench": "run",
            "comparison": rounds.comparison(samples, ["maco-run", "systemd-run"]),
            "phases": {name: statistics.median(each[name] for each in measured)
                       for name in measured[0]},
            "peer_command": peer,
            "samples": samples,
        }, sys.stdout)


main(sys.argv[1], int(sys.argv[2]))

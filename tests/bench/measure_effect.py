#!/usr/bin/env python3
# What an effect costs without its network: flushes, starts, opening a long log, pushes to a local remote; JSON.
# Usage: measure_effect.py BIN_DIR ROUNDS
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import rounds

STARTS = 50     # for each sample
PUSHES = 1000   # in all rounds together
EFFECTS = 10_000


class Bench:
    def __init__(self, bin_dir, scratch):
        self.bin_dir, self.scratch = bin_dir, scratch
        self.count = 0
        os.environ.update(HOME=scratch, GIT_CONFIG_NOSYSTEM="1", PATH=f"{bin_dir}:{os.environ['PATH']}")
        for key, value in (("user.name", "Bench"), ("user.email", "bench@localhost"),
                           ("init.defaultBranch", "main"), ("protocol.file.allow", "always")):
            self.git("config", "--global", key, value, directory=scratch)

    def git(self, *arguments, directory):
        subprocess.run(["git", *arguments], cwd=directory, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    def path(self, name):
        return os.path.join(self.scratch, name)

    def repository(self, name):
        """A repository with one commit, state, and a bare remote."""
        path = self.path(name)
        self.git("init", "-q", path, directory=self.scratch)
        with open(os.path.join(path, "file"), "w", encoding="utf-8") as file:
            file.write("content\n")
        self.git("add", "file", directory=path)
        self.git("commit", "-qm", "first", directory=path)
        self.git("init", "-q", "--bare", path + ".remote", directory=self.scratch)
        self.git("remote", "add", "origin", path + ".remote", directory=path)
        subprocess.run([os.path.join(self.bin_dir, "git-maco"), "init", "-q"], cwd=path, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return path

    def effect(self, *arguments):
        return [os.path.join(self.bin_dir, "maco-effect"), *arguments]

    def flushes(self, path):
        """Flushes to disk by one push, our own process only; None where strace is missing."""
        if not shutil.which("strace"):
            return None
        # The first one of all makes the log and the repository that pushes.
        subprocess.run(self.effect("push", "origin", "HEAD:refs/heads/first"), cwd=path, check=True,
                       stdout=subprocess.DEVNULL)
        trace = self.path("trace")
        subprocess.run(["strace", "-e", "trace=fsync,fdatasync,syncfs", "-o", trace,
                        *self.effect("push", "origin", "HEAD:refs/heads/traced")],
                       cwd=path, check=True, stdout=subprocess.DEVNULL)
        with open(trace, encoding="utf-8") as file:
            return len(re.findall(r"^(?:fsync|fdatasync|syncfs)\(", file.read(), re.M))

    def starts(self, path, rounds_wanted):
        os.chdir(path)
        git = [shutil.which("git"), "--version"]
        out = {}
        for name, ours in (("list", self.effect("list")),
                           ("status", [os.path.join(self.bin_dir, "maco-status")])):
            samples = rounds.interleaved(rounds_wanted, lambda ours=ours: rounds.timed_starts(ours, STARTS),
                                         lambda: rounds.timed_starts(git, STARTS))
            out[name] = rounds.comparison(samples, [f"git maco effect {name}" if name == "list"
                                                    else "git maco status", "git --version"])
        os.chdir("/")
        return out

    def loaded(self, path):
        """Whether listing opens libcurl, by the dynamic loader's own words."""
        environment = {**os.environ, "LD_DEBUG": "files"}
        done = subprocess.run(self.effect("list"), cwd=path, env=environment, check=True,
                              capture_output=True, text=True)
        return "libcurl" in done.stderr

    def opening(self, rounds_wanted):
        path = self.repository("long")
        tool = os.path.join(self.bin_dir, "bench", "effect-cost")
        subprocess.run([tool, "fill", str(EFFECTS)], cwd=path, check=True)
        samples = [float(subprocess.run([tool, "open"], cwd=path, check=True, capture_output=True,
                                        text=True).stdout) for _ in range(rounds_wanted + 1)]
        return {"effects": EFFECTS, **rounds.spread(samples[1:])}

    def pushes(self, path, rounds_wanted):
        """Each sample pushes to new refs, as often as gives a thousand in all."""
        each = max(1, PUSHES // rounds_wanted)
        bare = self.path("peer.git")
        self.git("init", "-q", "--bare", bare, directory=self.scratch)
        loop = self.path("loop.sh")
        with open(loop, "w", encoding="utf-8") as file:
            file.write('for n in $(seq "$4" "$5"); do\n'
                       '  git -C "$1" fetch -q "$2" "+$6:refs/maco/$n" || exit\n'
                       '  git -C "$1" push -q "$3" "$6:refs/heads/peer-$n" || exit\n'
                       '  git -C "$1" ls-remote "$3" "refs/heads/peer-$n" >/dev/null || exit\ndone\n')
        oid = subprocess.run(["git", "rev-parse", "HEAD"], cwd=path, check=True, capture_output=True,
                             text=True).stdout.strip()

        def peer():
            first = self.count + 1
            self.count += each
            return rounds.timed(["sh", loop, bare, path, path + ".remote", str(first),
                                 str(self.count), oid])

        ours = self.path("ours.sh")
        with open(ours, "w", encoding="utf-8") as file:
            file.write('for n in $(seq "$2" "$3"); do\n'
                       '  "$1" push origin HEAD:refs/heads/ours-$n >/dev/null || exit\ndone\n')

        def us():
            first = self.count + 1
            self.count += each
            return rounds.timed(["sh", ours, self.effect()[0], str(first), str(self.count)], path)

        samples = rounds.interleaved(rounds_wanted, us, peer, warm_up=1)
        return {"each": each, **rounds.comparison(samples, ["git maco effect push",
                                                            "fetch, push, ls-remote"])}


def main(bin_dir, count):
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(os.path.abspath(bin_dir), scratch)
        path = bench.repository("repository")
        json.dump({"bench": "effect", "flushes": bench.flushes(path), "libcurl": bench.loaded(path),
                   "starts": bench.starts(path, count), "open": bench.opening(count),
                   "pushes": bench.pushes(path, count)}, sys.stdout)


main(sys.argv[1], int(sys.argv[2]))

#!/usr/bin/env python3
# Trees and swappers for tests/cli/t0009-prune-hostile.sh.
# usage: t0009_prune_world.py deep PATH DEPTH | wide PATH FILES | bushy PATH DEPTH DIRECTORIES
#        t0009_prune_world.py swapped PATH OUTSIDE TIMES COMMAND...   COMMAND gets the name of PATH; status 9: the
#                                                                     file OUTSIDE/d/sentinel was touched
#        t0009_prune_world.py exchange-run RUN OUTSIDE PROGRAM prune REPOSITORY
#        t0009_prune_world.py delete-by-paths PATH
import ctypes
import os
import shutil
import subprocess
import sys
import threading
import time

RENAME_EXCHANGE = 2
AT_FDCWD = -100
libc = ctypes.CDLL(None, use_errno=True)


def exchange(one, other):
    return libc.renameat2(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE) == 0


def chain(path, depth):
    """Directories in one another; returns a descriptor of the last one."""
    os.mkdir(path, 0o700)
    at = os.open(path, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", 0o700, dir_fd=at)
        inner = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = inner
    return at


def make_file(name, directory):
    os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=directory))


def deep(path, depth):
    make_file("end", chain(path, int(depth)))


def wide(path, files):
    at = chain(path, 0)
    for i in range(int(files)):
        make_file(f"f{i}", at)


def bushy(path, depth, directories):
    at = chain(path, int(depth))
    for i in range(int(directories)):
        os.mkdir(f"d{i}", 0o700, dir_fd=at)
        make_file(f"d{i}/f", at)


class Swapper:
    """Exchanges two names without rest, until it is told to end or both are gone."""

    def __init__(self, one, other):
        self.one, self.other = one, other
        self.over, self.times = False, 0
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.over:
            self.times += exchange(self.one, self.other)

    def end(self):
        self.over = True
        self.thread.join()


def sentinel_is_well(outside):
    try:
        with open(os.path.join(outside, "d", "sentinel"), encoding="ascii") as file:
            return file.read() == "sentinel\n"
    except OSError:
        return False


def swapped(path, outside, times, *command):
    """A tree whose directory is exchanged for a link to one outside, while COMMAND deletes it."""
    exchanged = stopped = 0
    target = os.path.join(outside, "d")
    os.chmod(target, 0o755 if command[-1] == "delete-by-paths" else 0o555)
    for _ in range(int(times)):
        os.makedirs(os.path.join(path, "d"), 0o700)
        for i in range(20):
            make_file(os.path.join(path, "d", f"f{i}"), None)
        make_file(os.path.join(path, "d", "sentinel"), None)
        link = path + ".link"
        os.symlink(target, link)
        swapper = Swapper(os.path.join(path, "d"), link)
        name = path if command[-1] == "delete-by-paths" else os.path.basename(path)
        done = subprocess.run([*command, name], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        swapper.end()
        exchanged += swapper.times
        stopped += done.returncode != 0
        if not sentinel_is_well(outside):
            return 9
        shutil.rmtree(path, ignore_errors=True)
        for rest in (path, link):
            if os.path.islink(rest):
                os.unlink(rest)
            elif os.path.isdir(rest):
                shutil.rmtree(rest)
    print(f"{times} deletions, {exchanged} exchanges, {stopped} times it stopped")
    return 0


def exchange_run(run, outside, program, _word, repository):
    aside = run + ".aside"
    os.symlink(os.path.join(outside, "d"), aside)
    swapper = Swapper(run, aside)
    subprocess.run([program, "--max-age", "1h"], cwd=repository, check=False,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    swapper.end()
    return 0


def delete_by_paths(path):
    """What a careless program does: it looks, then goes by the name."""
    for name in os.listdir(path):
        inner = os.path.join(path, name)
        if os.path.isdir(inner) and not os.path.islink(inner):
            time.sleep(0.002)  # or on a busy machine the swapper hardly ever runs in between
            delete_by_paths(inner)
        else:
            os.unlink(inner)
    os.rmdir(path)
    return 0


def main(word, *arguments):
    commands = {"deep": deep, "wide": wide, "bushy": bushy, "swapped": swapped, "exchange-run": exchange_run,
                "delete-by-paths": delete_by_paths}
    return commands[word](*arguments) or 0


sys.exit(main(*sys.argv[1:]))

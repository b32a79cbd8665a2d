#!/usr/bin/env python3
# Lanes against git's own commands, on trees of 20,000 and 100,000 files, as JSON: create, capture, capture --rehash;
# and create where the file system copies on write.
# Usage: measure_worktree.py BIN_DIR ROUNDS. Needs 20 GiB and 5 million inodes on the disk of $TMPDIR, a real one.
import json
import os
import subprocess
import sys
import tempfile
import time

import rounds

# Nothing is deleted before all is measured: ext4 does not give out an inode that was freed within the last minutes
# and looks past all of them again for each new file, which makes a checkout after a deletion many times slower.

WARM_UPS = {20_000: 2, 100_000: 1}  # files: rounds before those that count
FILES_IN_DIRECTORY = 50
FILE_BYTES = 1000
EDITS = 10
CLONED = {"small": (20_000, 1000), "large": (2000, 256 << 10)}  # files, and bytes of each, where blocks can be shared


def path_of(number):
    directory = number // FILES_IN_DIRECTORY
    return f"d{directory // 40:03}/d{directory % 40:02}/file{number}"


def content_of(number, size=FILE_BYTES):
    return (f"line of file {number}\n" * size)[:size - 1] + "\n"


def history(files, size=FILE_BYTES):
    """For git fast-import: one commit, whose objects lie in one pack as after a clone."""
    yield ("commit refs/heads/main\ncommitter bench <bench@example.invalid> 1700000000 +0000\n"
           "data 5\nfirst\n")
    for number in range(files):
        content = content_of(number, size)
        yield f"M 100644 inline {path_of(number)}\ndata {len(content)}\n{content}\n"


class Repository:
    """A checked-out repository of that many files, with state of ours."""

    def __init__(self, folder, bin_dir, files, size=FILE_BYTES):
        self.top, self.bin_dir, self.files = os.path.join(folder, "repo"), bin_dir, files
        self.peers = os.path.join(folder, "peers")
        self.serial = 0
        os.mkdir(self.top)
        self.git("init", "-q", "-b", "main")
        self.git("fast-import", "--quiet", stdin="".join(history(files, size)))
        self.git("reset", "-q", "--hard", "main")
        subprocess.run([os.path.join(bin_dir, "git-maco"), "init"], cwd=self.top, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def git(self, *arguments, stdin=None):
        subprocess.run(["git", *arguments], cwd=self.top, check=True, input=stdin, text=True,
                       stdout=subprocess.DEVNULL)

    def ours(self, *arguments):
        return [os.path.join(self.bin_dir, "maco-worktree"), *arguments]

    def lane(self, name):
        return os.path.join(self.top + ".lanes", name)

    def new_name(self):
        self.serial += 1
        return f"lane{self.serial}"

    def records(self):
        """Records of the journals in which lanes are kept; each is one durable commit."""
        listed = subprocess.run([os.path.join(self.bin_dir, "maco-journal"), "list", "--json"],
                                cwd=self.top, check=True, capture_output=True).stdout
        return sum(journal["records"] for journal in json.loads(listed)["journals"]
                   if journal["journal"].startswith("store/lanes/"))


def settled(command, directory):
    """Wall time, while nothing that was written before waits to be flushed."""
    os.sync()
    return rounds.timed(command, directory)


def versus(count, warm_up, sides, names):
    samples = rounds.interleaved(count, *sides, warm_up=warm_up)
    return {**rounds.comparison(samples, names), "samples": samples}


def measure_create(repository, count, warm_up):
    """What was created stays, see above."""
    commits = []

    def us():
        name = repository.new_name()
        before = repository.records()
        seconds = settled(repository.ours("create", name), repository.top)
        commits.append(repository.records() - before)
        return seconds

    def peer():
        name = repository.new_name()
        path = os.path.join(repository.peers, name)
        return settled(["git", "worktree", "add", "--quiet", "-b", name, path, "main"], repository.top)
    compared = versus(count, warm_up, (us, peer), ["create", "git worktree add"])
    return {**compared, "commits": commits[warm_up:]}  # the first one of all also makes the store


def edit(repository, name):
    """Other content for the same few files, all over the tree."""
    repository.serial += 1
    for number in range(0, repository.files, repository.files // EDITS):
        with open(os.path.join(repository.lane(name), path_of(number)), "w", encoding="utf-8") as file:
            file.write(f"edit {repository.serial} of file {number}\n")


def measure_capture(repository, name, count, warm_up):
    lane = repository.lane(name)

    def side(command, directory):
        edit(repository, name)
        return settled(command, directory)
    return versus(count, warm_up, (lambda: side(repository.ours("capture", name), repository.top),
                                   lambda: side(["git", "status"], lane)), ["capture", "git status"])


def measure_rehash(repository, name, count, warm_up):
    lane, index = repository.lane(name), os.path.join(repository.peers, "index")
    environment = {**os.environ, "GIT_INDEX_FILE": index}

    def us():
        edit(repository, name)
        return settled(repository.ours("capture", "--rehash", name), repository.top)

    def peer():
        edit(repository, name)
        if os.path.exists(index):
            os.unlink(index)
        os.sync()
        start = time.monotonic()
        for arguments in (["read-tree", "HEAD"], ["add", "-A"], ["write-tree"]):
            subprocess.run(["git", *arguments], cwd=lane, env=environment, check=True,
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        return time.monotonic() - start
    return versus(count, warm_up, (us, peer), ["capture --rehash", "read-tree, add, write-tree"])


def measure_clone(folder, bin_dir, count):
    """create on a file system that copies on write; None where none can be mounted. Removals are not timed."""
    image, disk = os.path.join(folder, "image"), os.path.join(folder, "disk")
    os.mkdir(disk)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        for command in (["truncate", "-s", "8G", image], ["mkfs.xfs", "-q", "-m", "reflink=1", image],
                        ["mount", "-o", "loop", image, disk]):
            subprocess.run(command, check=True, **quiet)
    except (OSError, subprocess.CalledProcessError):
        return None
    out = {}
    try:
        for kind, (files, size) in CLONED.items():
            place = os.path.join(disk, kind)
            os.mkdir(place)
            repository = Repository(place, bin_dir, files, size)

            def us(repository=repository):
                name = repository.new_name()
                seconds = settled(repository.ours("create", name), repository.top)
                subprocess.run(repository.ours("remove", name), cwd=repository.top, check=True, **quiet)
                return seconds

            def peer(repository=repository):
                path = os.path.join(repository.top + ".peer", repository.new_name())
                seconds = settled(["git", "worktree", "add", "--quiet", "--detach", path, "main"], repository.top)
                repository.git("worktree", "remove", path)
                return seconds
            out[kind] = {"files": files, "bytes": size, **versus(count, 1, (us, peer), ["create", "git worktree add"])}
    finally:
        subprocess.run(["umount", disk], check=True)
    return out


def measure(folder, bin_dir, count, files):
    repository = Repository(folder, bin_dir, files)
    os.mkdir(repository.peers)
    warm_up = WARM_UPS[files]
    out = {"create": measure_create(repository, count, warm_up)}
    name = repository.new_name()
    rounds.timed(repository.ours("create", name), repository.top)
    out["capture"] = measure_capture(repository, name, count, warm_up)
    out["rehash"] = measure_rehash(repository, name, count, warm_up)
    return out


def main(bin_dir, count):
    out = {"bench": "worktree", "files": {}}
    folder = tempfile.mkdtemp(prefix="maco-bench.")
    try:
        # No settings of the user, for neither side.
        os.environ.update(HOME=folder, XDG_CONFIG_HOME=folder, GIT_CONFIG_NOSYSTEM="1")
        for files in WARM_UPS:
            place = os.path.join(folder, str(files))
            os.mkdir(place)
            out["files"][str(files)] = measure(place, bin_dir, count, files)
        out["clone"] = measure_clone(folder, bin_dir, count)
        json.dump(out, sys.stdout)
        sys.stdout.flush()
    finally:
        subprocess.run(["rm", "-rf", folder], check=True)  # takes minutes


main(sys.argv[1], int(sys.argv[2]))

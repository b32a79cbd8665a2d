# The files of a source tree, for the checks: which there are, their text, their code without comments.
# Usage: imported by the check_*.py beside it; each check prints one line per finding, status 1 if any.
import os
import re
import subprocess
import sys

SKIPPED = {".git", "build", ".cache"}


def files(root):
    """Paths relative to root: what git knows or could add; without git, all that lies there."""
    listed = subprocess.run(
        ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, check=False)
    if listed.returncode == 0 and os.path.exists(os.path.join(root, ".git")):
        names = {os.fsdecode(name) for name in listed.stdout.split(b"\0") if name}
        return sorted(name for name in names if os.path.isfile(os.path.join(root, name)))
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in SKIPPED]
        found += [os.path.relpath(os.path.join(folder, name), root) for name in names]
    return sorted(found)


def sources(root):
    return [path for path in files(root) if path.endswith((".cc", ".h"))]


def text(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
        return file.read()


_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)


def code(source):
    """Without comments; strings stay, lines keep their numbers."""
    def keep(match):
        token = match.group()
        return re.sub(r"[^\n]", " ", token) if token.startswith("/") else token
    return _TOKEN.sub(keep, source)


def without_strings(source):
    """Code without comments and with empty strings; include lines keep theirs."""
    lines = []
    for line in code(source).split("\n"):
        lines.append(line if line.startswith("#include") else
                     re.sub(r'"(?:\\.|[^"\\])*"', '""', line))
    return "\n".join(lines)


def includes(source):
    """(line number, name, in angle brackets) of each include."""
    for number, line in enumerate(code(source).split("\n"), 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if match:
            yield number, match.group(2), match.group(1) == "<"


def finish(findings, what):
    for finding in findings:
        print(finding)
    print(f"{what}: {len(findings)} findings")
    sys.exit(1 if findings else 0)

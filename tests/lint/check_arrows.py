#!/usr/bin/env python3
# Who may include whom: the layers of libcommon, tools apart from each other, one file per library.
# Usage: check_arrows.py ROOT. The arrows are those of ARCHITECTURE.md.
import re
import sys

import source_tree

# Layer of libcommon -> the layers that it may include, besides itself.
LAYERS = {
    "base": (),
    "os": ("base",),
    "auth": ("base", "os"),
    "log": ("base", "os", "auth"),
    "store": ("base", "os", "auth", "log"),
    "lane": ("base", "os", "auth", "log", "store", "git", "state", "cli"),
    "effect": ("base", "os", "auth", "log", "store"),
    "git": ("base", "os", "auth", "log"),
    "state": ("base", "os", "auth", "log", "store", "git", "cli"),
    "cli": ("base", "os", "auth"),
}

# Library -> its headers, and where they may be included. "one": a single .cc of the whole tree;
# "one per tool": a single .cc of each top folder; else the only files.
LIBRARIES = {
    "nettle": (r"nettle/", "one"),
    "nlohmann": (r"nlohmann/", {"libcommon/auth/json.h"}),
    "tl-expected": (r"tl/expected", {"libcommon/base/result.h"}),
    "cxxopts": (r"cxxopts", "one"),
    "libseccomp": (r"seccomp\.h$", "one"),
    "libsystemd": (r"systemd/", "one"),
    "libcurl": (r"curl/", "one"),
    "libarchive": (r"archive(_entry)?\.h$", "one"),
}
LIBGIT2 = r"git2(\.h$|/)"  # its handles need a header


def top(path):
    return path.split("/")[0]


def layer(path):
    parts = path.split("/")
    return parts[1] if parts[0] == "libcommon" and len(parts) > 2 else None


def is_tool(folder):
    return folder == "git-maco" or folder.startswith("maco-")


def check_include(path, name):
    """What is wrong with that include, or None."""
    if path.startswith("tests/"):
        return None
    if name.startswith("tests/"):
        return "nothing includes tests/"
    if is_tool(top(name)) and top(name) != top(path):
        return f"'{top(path)}' may not include '{top(name)}'"
    here, there = layer(path), layer(name)
    if here is None or there is None:
        return None
    if here not in LAYERS or there not in LAYERS:
        return f"a layer of libcommon without a rule: '{here}' -> '{there}'"
    if there != here and there not in LAYERS[here]:
        return f"libcommon/{here} may not include libcommon/{there}"
    return None


def check_libraries(included):
    """`included`: (path, line, name) of every include in angle brackets, tests left out."""
    for library, (pattern, where) in LIBRARIES.items():
        users = [(path, line) for path, line, name in included if re.match(pattern, name)]
        if isinstance(where, set):
            for path, line in users:
                if path not in where:
                    yield f"{path}:{line}: {library} is included in {', '.join(where)} only"
            continue
        first = {}
        for path, line in users:
            group = top(path) if where == "one per tool" else ""
            if path.endswith(".h"):
                yield f"{path}:{line}: {library} in a header"
            elif first.setdefault(group, path) != path:
                yield f"{path}:{line}: {library} is in {first[group]} already; one .cc only"
    for path, line, name in included:
        if re.match(LIBGIT2, name) and not path.startswith("libcommon/git/"):
            yield f"{path}:{line}: libgit2 is included in libcommon/git only"


def linked(root):
    """(CMakeLists.txt, target, what it links) of each library and program of ours."""
    for path in source_tree.files(root):
        if not path.endswith("CMakeLists.txt") or path.startswith("tests/"):
            continue
        cmake = re.sub(r"#[^\n]*", "", source_tree.text(root, path))
        for match in re.finditer(r"maco_(?:library|program)\(\s*(\S+)([^)]*)\)", cmake):
            words = re.split(r"\s+", match.group(2))
            links, on = [], False
            for word in words:
                if word in ("SOURCES", "LINK", "PRIVATE"):
                    on = word != "SOURCES"
                elif on and word:
                    links.append(word)
            yield path, match.group(1), links


def check_links(root):
    targets = list(linked(root))
    home = {name: path for path, name, _ in targets}
    for path, name, links in targets:
        for other in links:
            if other not in home:
                continue  # not ours
            if is_tool(top(home[other])) and home[other] != path:
                yield f"{path}: '{name}' may not link '{other}' of {top(home[other])}"
            here, there = name.removeprefix("maco_"), other.removeprefix("maco_")
            if here in LAYERS and there in LAYERS and there not in LAYERS[here]:
                yield f"{path}: '{name}' may not link '{other}'"


def main(root):
    findings, included = [], []
    for path in source_tree.sources(root):
        for line, name, angled in source_tree.includes(source_tree.text(root, path)):
            if angled and not path.startswith("tests/"):
                included.append((path, line, name))
            wrong = check_include(path, name)
            if wrong:
                findings.append(f"{path}:{line}: {wrong}")
    findings += check_libraries(included)
    findings += check_links(root)
    source_tree.finish(findings, "arrows")


main(sys.argv[1])

#!/usr/bin/env python3
# Prints what a measure_*.py measured, and whether it meets its target; status 1 on a miss.
# Usage: report.py FILE [LOAD]. FILE is the measurement's JSON, LOAD the machine's load average before it.
import json
import os
import re
import sys

RUN_RATIO = 1.0
SCAN_RATIO = 0.5
SCAN_RESIDENT_KIB = 64 << 10
START_RATIO = 2.0
JOURNAL_BARE_RATIO = 1.15
JOURNAL_SQLITE_RATIO = 1 / 1.3
JOURNAL_GROUP_RECORDS = 100_000     # in a second
JOURNAL_OPEN_SECONDS = 0.020
JOURNAL_VERIFY_SPEED = 0.8          # of libcrypto's, with records of 4 KiB
JOURNAL_TWO_CORES = 1.7
JOURNAL_RESIDENT_KIB = 32 << 10
JOURNAL_JUDGED_SIZE = "4032"        # smaller records are shown only: frame and context weigh more
WORKTREE_CREATE_RATIO = 1.15
WORKTREE_CAPTURE_RATIO = 2.0
WORKTREE_CLONE_RATIO = 0.5
WORKTREE_REHASH_RATIO = 1.2
WORKTREE_COMMITS = 2                # durable ones, of each create
EFFECT_FLUSHES = 6
EFFECT_START_RATIO = 2.0
EFFECT_OPEN_SECONDS = 0.050
EFFECT_PUSH_RATIO = 1.25
PRUNE_RATIO = 1.1
PRUNE_FILES = 20_000                # in a second, where rm -rf reaches it
PRUNE_RESIDENT_KIB = 32 << 10
NOT_LINKED = re.compile(r"^lib(git2|curl)\b")


def milliseconds(seconds):
    return f"{seconds * 1e3:9.2f} ms"


def print_sides(title, comparison):
    print(f"{title}: median, quartiles, range")
    for side in (comparison["us"], comparison["peer"]):
        spread = " .. ".join(milliseconds(value) for value in side["quartiles"])
        ends = " .. ".join(milliseconds(value) for value in side["range"])
        print(f"  {side['name']:20} {milliseconds(side['median'])}   {spread}   {ends}"
              f"   {side['rounds']} rounds")


def target(met, text):
    print(f"  {'met' if met else 'MISSED'}: {text}")
    return met


def ratio(comparison, most):
    return target(comparison["ratio"] <= most,
                  f"ratio of medians {comparison['ratio']:.3f}, target at most {most}")


def report_run(measured):
    print_sides("run", measured["comparison"])
    met = [ratio(measured["comparison"], RUN_RATIO)]
    print("  where our time goes, each up to the moment of timings_us (median):")
    for name, seconds in measured["phases"].items():
        print(f"    {name:18} {milliseconds(seconds)}")
    return met


def report_scan(measured):
    met = []
    for name, comparison in measured["comparisons"].items():
        print_sides(f"scan, {name}, {comparison['counts']['entries']} entries", comparison)
        met.append(ratio(comparison, SCAN_RATIO))
    for name, counts in measured["memory"].items():
        print(f"scan, memory, {name}")
        met.append(target(counts["resident_kib"] < SCAN_RESIDENT_KIB,
                          f"{counts['resident_kib']} KiB resident at {counts['entries']} entries, "
                          f"target below {SCAN_RESIDENT_KIB} KiB"))
    return met


def report_start(measured):
    print_sides("start", measured["comparison"])
    met = [ratio(measured["comparison"], START_RATIO)]
    for program, libraries in measured["libraries"].items():
        found = [name for name in libraries if NOT_LINKED.match(name)]
        met.append(target(not found, f"{program} links neither libgit2 nor libcurl"
                                     + (f", but {', '.join(found)}" if found else "")))
    return met


def report_verify(size, measured):
    judged = size == JOURNAL_JUDGED_SIZE
    met = []

    def judge(good, text):
        if judged:
            met.append(target(good, text))
        else:
            print(f"  {text} (shown only)")
    rate = measured["bytes"] / measured["one"]["us"]["median"] / 1e6
    print_sides(f"journal, verify, records of {size} bytes, {rate:.0f} MB/s", measured["one"])
    speed = 1 / measured["one"]["ratio"]
    judge(speed >= JOURNAL_VERIFY_SPEED, f"speed {speed:.2f} of libcrypto's, target at least {JOURNAL_VERIFY_SPEED}")
    print_sides("  on two threads", measured["two"])
    gain = 1 / measured["two"]["ratio"]
    judge(gain >= JOURNAL_TWO_CORES, f"{gain:.2f} times as fast, target at least {JOURNAL_TWO_CORES}")
    resident = int(max(measured["resident_kib"].values()))
    judge(resident < JOURNAL_RESIDENT_KIB, f"{resident} KiB resident, target below {JOURNAL_RESIDENT_KIB} KiB")
    return met


def report_journal(measured):
    met = []
    for name, most in (("bare", JOURNAL_BARE_RATIO), ("sqlite", JOURNAL_SQLITE_RATIO)):
        print_sides(f"journal, durable append, {name}", measured["appends"][name])
        ratio_now = measured["appends"][name]["ratio"]
        met.append(target(ratio_now <= most, f"ratio of medians {ratio_now:.3f}, target at most {most:.3f}"))
    rate = measured["group"]["records"] / measured["group"]["median"]
    print("journal, groups and opening")
    met.append(target(rate >= JOURNAL_GROUP_RECORDS,
                      f"{rate:.0f} records/s in groups, target at least {JOURNAL_GROUP_RECORDS}"))
    seconds = measured["open"]["median"]
    met.append(target(seconds < JOURNAL_OPEN_SECONDS,
                      f"{milliseconds(seconds).strip()} to open {measured['open']['bytes'] >> 20} MiB for append, "
                      f"target below {milliseconds(JOURNAL_OPEN_SECONDS).strip()}"))
    for size, verify in measured["verify"].items():
        met += report_verify(size, verify)
    return met


def report_worktree(measured):
    met = []
    for files, compared in measured["files"].items():
        for name, most in (("create", WORKTREE_CREATE_RATIO), ("capture", WORKTREE_CAPTURE_RATIO),
                           ("rehash", WORKTREE_REHASH_RATIO)):
            print_sides(f"worktree, {name}, {files} files", compared[name])
            met.append(ratio(compared[name], most))
        commits = sorted(set(compared["create"]["commits"]))
        met.append(target(commits == [WORKTREE_COMMITS],
                          f"{' or '.join(map(str, commits))} durable commits for each create, "
                          f"target {WORKTREE_COMMITS}"))
    if not measured.get("clone"):
        print(f"  not measured: create by copy on write, target at most {WORKTREE_CLONE_RATIO} (no XFS can be mounted)")
        return met
    for compared in measured["clone"].values():
        print_sides(f"worktree, create on XFS, {compared['files']} files of {compared['bytes']} bytes", compared)
        met.append(ratio(compared, WORKTREE_CLONE_RATIO))
    return met


def report_effect(measured):
    met = []
    print("effect, own cost")
    if measured["flushes"] is None:
        print("  not measured: flushes of one effect (strace is not installed)")
    else:
        met.append(target(measured["flushes"] <= EFFECT_FLUSHES,
                          f"{measured['flushes']} flushes of one effect, target at most {EFFECT_FLUSHES}"))
    met.append(target(not measured["libcurl"], "listing loads no libcurl"
                      + (", but it does" if measured["libcurl"] else "")))
    for name, compared in measured["starts"].items():
        print_sides(f"effect, start of {name}", compared)
        met.append(ratio(compared, EFFECT_START_RATIO))
    seconds = measured["open"]["median"]
    print("effect, opening")
    met.append(target(seconds < EFFECT_OPEN_SECONDS,
                      f"{milliseconds(seconds).strip()} to open a log of {measured['open']['effects']} effects, "
                      f"target below {milliseconds(EFFECT_OPEN_SECONDS).strip()}"))
    print_sides(f"effect, {measured['pushes']['each']} pushes to a local remote", measured["pushes"])
    met.append(ratio(measured["pushes"], EFFECT_PUSH_RATIO))
    return met


def report_prune(measured):
    print_sides(f"prune on {measured['filesystem']}, verify and delete {measured['files']} files", measured["whole"])
    met = [ratio(measured["whole"], PRUNE_RATIO)]
    print_sides("prune, deletion alone", measured["alone"])
    ours = measured["files"] / measured["alone"]["us"]["median"]
    peers = measured["files"] / measured["alone"]["peer"]["median"]
    text = f"{ours:.0f} files/s, rm -rf {peers:.0f}, target {PRUNE_FILES}"
    if peers >= PRUNE_FILES:
        met.append(target(ours >= PRUNE_FILES, text))
    else:
        print(f"  not judged: {text}, which rm -rf does not reach either")
    met.append(target(measured["resident_kib"] < PRUNE_RESIDENT_KIB,
                      f"{measured['resident_kib']} KiB resident, target below {PRUNE_RESIDENT_KIB} KiB"))
    return met


def main(path, load=None):
    with open(path, encoding="utf-8") as file:
        measured = json.load(file)
    met = {"run": report_run, "scan": report_scan, "start": report_start,
           "journal": report_journal, "worktree": report_worktree,
           "effect": report_effect, "prune": report_prune}[measured["bench"]](measured)
    if load is not None:
        measured["load"] = float(load)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(measured, file, indent=1)
            file.write("\n")
        if float(load) > os.cpu_count() / 4:
            print(f"  beware: the load was {load} before it began; times of a busy machine mean nothing")
    return 0 if all(met) else 1


sys.exit(main(*sys.argv[1:]))

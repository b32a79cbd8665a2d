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


def main(path, load=None):
    with open(path, encoding="utf-8") as file:
        measured = json.load(file)
    met = {"run": report_run, "scan": report_scan, "start": report_start}[measured["bench"]](measured)
    if load is not None:
        measured["load"] = float(load)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(measured, file, indent=1)
            file.write("\n")
        if float(load) > os.cpu_count() / 4:
            print(f"  beware: the load was {load} before it began; times of a busy machine mean nothing")
    return 0 if all(met) else 1


sys.exit(main(*sys.argv[1:]))

# Rounds of two commands that are compared: interleaved, after a warm-up, with median and quartiles.
# Imported by the measure_*.py beside it. Unit: seconds.
import os
import statistics
import subprocess
import time


def timed(command, directory=None):
    """Wall time of one successful run; all its output but the errors is thrown away."""
    start = time.monotonic()
    subprocess.run(command, cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   check=True)
    return time.monotonic() - start


def timed_starts(command, count):
    """Mean wall time of `count` starts in a row, by posix_spawn, which costs little itself."""
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    start = time.monotonic()
    for _ in range(count):
        pid = os.posix_spawn(command[0], command, os.environ, file_actions=quiet)
        if os.waitpid(pid, 0)[1] != 0:
            raise RuntimeError(f"{command} failed")
    return (time.monotonic() - start) / count


def interleaved(rounds, us, peer, warm_up=2):
    """Samples of both: each round has one of each, and the other one first in the next round."""
    samples = {"us": [], "peer": []}
    pair = [("us", us), ("peer", peer)]
    for number in range(-warm_up, rounds):
        for side, sample in pair if number % 2 == 0 else pair[::-1]:
            seconds = sample()
            if number >= 0:
                samples[side].append(seconds)
    return samples


def spread(samples):
    low, middle, high = statistics.quantiles(samples, n=4, method="inclusive")
    return {"rounds": len(samples), "median": middle, "quartiles": [low, high],
            "range": [min(samples), max(samples)]}


def comparison(samples, names):
    us, peer = spread(samples["us"]), spread(samples["peer"])
    return {"us": {"name": names[0], **us}, "peer": {"name": names[1], **peer},
            "ratio": us["median"] / peer["median"]}

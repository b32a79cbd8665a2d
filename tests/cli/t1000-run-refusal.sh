#!/bin/sh
# maco-run on hosts that cannot prove a run: refused before anything starts, with observation and remedy (RUN-05, RUN-16).
# Contract: docs/man/maco-run.1. Needs MACO_BIN, the directory of the built programs.
set -u
: "${MACO_BIN:?set MACO_BIN to the directory of the built programs}"
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
HOME=$scratch
export HOME
unset GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR
count=0
failed=0

check() { # NAME: judges the status of the command before it
  if [ $? -eq 0 ]; then r=ok; else r='not ok'; failed=1; fi
  count=$((count + 1))
  echo "$r $count - $1"
}
refused() { # WORDS: status 125, one line that holds them, and no target
  [ "$status" -eq 125 ] && grep -qF "$1" "$scratch/err" && [ "$(wc -l <"$scratch/err")" -eq 1 ] &&
    [ ! -e "$scratch/repo/started" ]
}
# Without cgroup v2 the kernel cannot tell whether a process tree is empty: a mount namespace of its
# own shows maco-run such a host, whatever this one is.
without_cgroup2() {
  unshare --user --map-root-user --mount sh -c \
    'mount -t tmpfs none /sys/fs/cgroup && exec "$@"' _ "$@"
}

git init -q "$scratch/repo"
cd "$scratch/repo" || exit 1
"$MACO_BIN/git-maco" init >/dev/null 2>&1

without_cgroup2 "$MACO_BIN/git-maco" run -- touch started >"$scratch/out" 2>"$scratch/err"
status=$?
refused 'not cgroup version 2'
check 'a host without cgroup v2 is refused, with the observation'
grep -qF 'systemd.unified_cgroup_hierarchy=1' "$scratch/err"
check 'and with the remedy'
[ ! -e .git/maco/runs ]
check 'nothing is left of it'
"$MACO_BIN/maco-run" -h >"$scratch/out" 2>"$scratch/err" && grep -q '^usage: maco-run' "$scratch/out"
check '-h prints usage with status 0'
echo "1..$count"
exit $failed

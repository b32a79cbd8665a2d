#!/bin/sh
# git maco prune against what exchanges, closes, mounts or nests what it deletes (PRN-02, C50, C51).
# A naive deletion by paths is the control: the same exchange leads it outside. MACO_LONG=1: also 1,000,000 entries.
# Needs MACO_BIN with crash/kill-at, python3; as root also mounts and files that are immutable.
# shellcheck disable=SC2012,SC2086,SC2174,SC2181,SC3045
set -u
# shellcheck source=tests/cli/t0009-functions.inc
. "$(dirname "$0")/t0009-functions.inc"
here=$(dirname "$(readlink -f "$0")")
world=$here/t0009_prune_world.py

fresh
kept=$(aged 0)
outside=$scratch/outside
mkdir -p "$outside/d" && echo sentinel >"$outside/d/sentinel" && chmod 0555 "$outside/d"
sentinel() { [ "$(cat "$outside/d/sentinel")" = sentinel ] && [ "$(stat -c %a "$outside/d")" = 555 ]; }

# A swapper exchanges a directory for a link to one outside, again and again, while the tree is deleted.
python3 "$world" swapped "$scratch/naive" "$outside" 2000 python3 "$world" delete-by-paths
[ $? -eq 9 ]
check 'control: a deletion by paths is led outside'
mkdir -p "$outside/d" && chmod 0755 "$outside/d" && echo sentinel >"$outside/d/sentinel" && chmod 0555 "$outside/d"
mkdir -p -m 0700 "$quarantine"
python3 "$world" swapped "$quarantine/swap" "$outside" 200 env -C "$repo" "$MACO_BIN/maco-prune" discard >"$scratch/swapped"
r=$?
sed 's/^/# /' "$scratch/swapped"
[ $r -eq 0 ] && sentinel
check 'C51 a deletion while a directory is exchanged for a link to one outside never leaves the quarantine'
chmod -R u+rwx "$quarantine"
rm -rf "${quarantine:?}"/*

# A run is exchanged while it is verified and moved.
for i in 1 2 3 4 5 6 7 8 9 10; do
  a=$(aged 7200)
  python3 "$world" exchange-run "$runs/$a" "$outside" "$MACO_BIN/maco-prune" prune "$repo" >/dev/null
  sentinel || break
  rm -f "$runs/$a" 2>/dev/null
  (cd "$repo" && ls "$quarantine" | while read -r name; do "$MACO_BIN/maco-prune" discard "$name"; done) >/dev/null 2>&1
  rm -rf "${runs:?}/$a" "${runs:?}/"*.aside
done
sentinel && [ -z "$(ls "$quarantine")" ]
check "a run that is exchanged for a link while it is pruned ($i times)"

# One that is deep, or wide, in few descriptors and little memory.
bounded() { # ENTRY DIRECTORIES: discards it with 64 descriptors, and 32 MiB of data
  out=$(cd "$repo" && ulimit -n 64 && ulimit -d 32768 && "$MACO_BIN/maco-prune" discard "$1" 2>&1)
  status=$?
  err=''
  [ $status -eq 0 ] && contains "$out" "$2" && [ -z "$(ls "$quarantine")" ]
}
python3 "$world" deep "$quarantine/deep" 32768
bounded deep '32769 directories'
check '32,768 directories in one another, with 64 descriptors'
python3 "$world" wide "$quarantine/wide" 200000
bounded wide '200000 files'
check '200,000 files, with 64 descriptors'
python3 "$world" bushy "$quarantine/bushy" 20 3000
bounded bushy '3021 directories'
check '3,000 directories at the end of a deep one'
if [ "${MACO_LONG:-}" = 1 ]; then
  python3 "$world" wide "$quarantine/wide" 1000000
  bounded wide '1000000 files'
  check '1,000,000 files, with 64 descriptors'
else
  skip '1,000,000 files' 'MACO_LONG=1 tries them'
fi
ids=$(for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do aged 7200; done)
out=$(cd "$repo" && ulimit -n 64 && ulimit -d 32768 && "$MACO_BIN/maco-prune" --max-age 1h -z 2>&1 | tr '\0' '\n' | sort)
[ "$out" = "$(printf '%s\n' $ids | sort)" ] && there "$kept"
check '20 runs at once, with 64 descriptors'
python3 "$world" deep "$quarantine/deep" 32768
point=1
while [ $point -lt 400 ]; do
  (cd "$repo" && "$MACO_BIN/crash/kill-at" kill $((point * 37)) "$scratch/report" "$MACO_BIN/maco-prune" discard deep) >/dev/null 2>&1
  point=$((point + 40))
done
prune inspect
contains "$out" 'deep: stuck' && bounded deep 'directories'
check 'a deep one that was cut short ten times'

# Directories that are closed even to their owner.
closed() { # ENTRY
  mkdir -p "$quarantine/$1/a/b" "$quarantine/$1/c"
  touch "$quarantine/$1/a/b/f" "$quarantine/$1/a/f" "$quarantine/$1/c/f"
  chmod 0555 "$quarantine/$1/a/b"
  chmod 0000 "$quarantine/$1/a" "$quarantine/$1/c"
  chmod 0100 "$quarantine/$1"
}
closed shut
prune discard shut
[ $status -eq 0 ] && [ -z "$(ls "$quarantine")" ]
check 'C51 directories with modes 0555, 0100 and 0000'
if [ "$(id -u)" -eq 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups true 2>/dev/null; then
  root_repo=$repo root_quarantine=$quarantine root_runs=$runs
  chmod 0755 "$scratch"
  mkdir "$scratch/nobody" && chown 65534:65534 "$scratch/nobody"
  closed shut
  mv "$quarantine" "$scratch/nobody/keep" && mkdir -m 0700 "$quarantine"
  cat >"$scratch/as-nobody" <<'S'
set -eu
HOME=$1/home2
mkdir "$1/home2"
export HOME GIT_CONFIG_NOSYSTEM=1
git config --global user.name n
git config --global user.email e
git init -q "$1/repo"
cd "$1/repo"
git commit -q --allow-empty -m first
"$2/maco-init" -q >/dev/null
a=$("$2/support/state_fixture" .git run files=3 run_planned command_started command_completed run_finalized)
chmod 0500 ".git/maco/runs/$a/trusted/d0" ".git/maco/runs/$a/trusted" ".git/maco/runs/$a"
"$2/maco-prune" --keep 0
[ -z "$(ls .git/maco/runs)" ]
mkdir -p .git/maco/quarantine/shut/a/b
touch .git/maco/quarantine/shut/a/b/f
chmod 0555 .git/maco/quarantine/shut/a/b
chmod 0000 .git/maco/quarantine/shut/a
chmod 0000 .git/maco/quarantine/shut
"$2/maco-prune" discard shut
[ -z "$(ls .git/maco/quarantine)" ]
S
  if setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$MACO_BIN/maco-prune"; then
    out=$(setpriv --reuid=65534 --regid=65534 --clear-groups sh "$scratch/as-nobody" "$scratch/nobody" "$MACO_BIN" 2>&1)
    status=$?
    [ $status -eq 0 ] && contains "$out" '1 runs deleted'
    check 'the same as a user without privileges, and a run whose own directory is closed'
  else
    skip 'the same as a user without privileges' 'that user cannot reach the programs'
  fi
  chmod -R u+rwx "$scratch/nobody" && rm -rf "$scratch/nobody"
  repo=$root_repo quarantine=$root_quarantine runs=$root_runs
else
  skip 'the same as a user without privileges' 'needs root'
fi

# Immutable files.
a=$(aged 7200)
if chattr +i "$runs/$a/trusted/d0/f1" 2>/dev/null; then
  b=$(aged 7200)
  prune --max-age 1h --json
  entry=$(ls "$quarantine")
  [ $status -eq 1 ] && says ".runs | any(.run == \"$a\" and (.deleted | not) and (.reason | contains(\"stuck\")))" &&
    says ".runs | any(.run == \"$b\" and .deleted)" && there "$kept" && [ "${entry%.*}" = "$a" ]
  check 'an immutable file: its run is stuck and told as kept, the other one is deleted'
  prune inspect
  [ $status -eq 1 ] && contains "$out" 'is immutable'
  check 'inspect says so'
  prune discard "$entry"
  [ $status -eq 1 ] && [ -e "$quarantine/$entry" ]
  check 'not even discard deletes it'
  chattr -i "$quarantine/$entry/trusted/d0/f1"
  prune --max-age 1h
  [ $status -eq 0 ] && [ -z "$(ls "$quarantine")" ]
  check 'when it is not immutable any more the next prune completes it'
else
  rm -r "${runs:?}/$a"
  skip 'an immutable file' 'chattr +i is not possible here'
fi

# Mounts.
if unshare -m true 2>/dev/null; then
  a=$(aged 7200)
  mkdir -m 0700 "$runs/$a/trusted/mount"
  # shellcheck disable=SC2016
  out=$(cd "$repo" && unshare -m sh -c 'mount --bind "$1" "$2" && "$0" --max-age 1h --json' \
    "$MACO_BIN/maco-prune" "$outside/d" "$runs/$a/trusted/mount" 2>&1)
  [ "$(reason "$a")" != 'older than the policy allows' ] && [ -d "$runs/$a" ] && sentinel
  check 'C50 a mount in a run: kept'
  rmdir "$runs/$a/trusted/mount"
  prune --max-age 1h && there "$kept"
  mkdir -p "$quarantine/x/mount" && echo x >"$quarantine/x/z"
  # shellcheck disable=SC2016
  out=$(cd "$repo" && unshare -m sh -c 'mount --bind "$1" "$2" && "$0" discard x; echo "status $?"; "$0" inspect' \
    "$MACO_BIN/maco-prune" "$outside/d" "$quarantine/x/mount" 2>&1)
  contains "$out" 'is another file system' && contains "$out" 'status 1' && sentinel
  check 'C50 a mount of a closed directory in the quarantine is not entered, nor opened up'
  touch "$quarantine/x/file"
  # shellcheck disable=SC2016
  out=$(cd "$repo" && unshare -m sh -c 'mount --bind "$1" "$2" && "$0" discard x; echo "status $?"' \
    "$MACO_BIN/maco-prune" "$outside/d/sentinel" "$quarantine/x/file" 2>&1)
  contains "$out" 'status 1' && sentinel
  check 'nor is a file that is mounted there removed'
  prune discard x && [ $status -eq 0 ]
  check 'without the mount it is discarded'
else
  skip 'mounts' 'unshare -m is not possible here'
fi

# The quarantine itself is a link, or a mount.
a=$(aged 7200)
rm -rf "$quarantine" && ln -s "$outside/d" "$quarantine"
prune --max-age 1h
[ $status -eq 128 ] && [ -d "$runs/$a" ] && sentinel && prune --max-age 1h -n && [ $status -eq 128 ] &&
  prune inspect && [ $status -eq 128 ] && prune discard sentinel && [ $status -eq 128 ] && sentinel
check 'a quarantine that is a link is refused by all commands'
rm "$quarantine" && prune --max-age 1h && [ $status -eq 0 ] && there "$kept"
check 'and without it the next prune goes on'
mv "$runs" "$scratch/runs" && ln -s "$scratch/runs" "$runs"
prune --keep 0
[ $status -eq 128 ] && [ -d "$scratch/runs/$kept" ]
check 'C48 a directory of runs that is a link is refused'
rm "$runs" && mv "$scratch/runs" "$runs"
maco journal verify
[ $status -eq 0 ] && sentinel
check 'what is left verifies'
finish

#!/bin/sh
# git maco doctor: the document, what it says of forced hosts and repositories, and what it leaves.
# Contract: git-maco-doctor(1). Needs MACO_BIN, the directory of the built programs, and jq.
set -u
: "${MACO_BIN:?set MACO_BIN to the directory of the built programs}"
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
HOME=$scratch/home
TMPDIR=$scratch/tmp
GIT_CEILING_DIRECTORIES=$scratch
export HOME TMPDIR GIT_CEILING_DIRECTORIES
unset GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR
mkdir "$HOME" "$TMPDIR" "$scratch/plain"
document=$scratch/document
count=0
failed=0

# check NAME: judges the status of the command before it.
check() {
  if [ $? -eq 0 ]; then r=ok; else r='not ok'; failed=1; fi
  count=$((count + 1))
  echo "$r $count - $1"
}
skip() {
  count=$((count + 1))
  echo "ok $count - # SKIP $1"
}
# doctor DIR ARGS...: output in $scratch/out, messages in $scratch/err, status in $status.
doctor() {
  (cd "$1" && shift && "$MACO_BIN/git-maco" doctor "$@") >"$scratch/out" 2>"$scratch/err"
  status=$?
}
# json DIR: the document in $document.
json() {
  doctor "$1" --json
  cp "$scratch/out" "$document"
}
# says FILTER: whether it holds for the document.
says() { jq -e "$1" "$document" >/dev/null; }
# state ID: prints the state of a check.
state() { jq -r --arg id "$1" '.checks[] | select(.id == $id) | .state' "$document"; }
# of ID MEMBER: prints another member of it.
of() { jq -r --arg id "$1" --arg member "$2" '.checks[] | select(.id == $id) | .[$member]' "$document"; }
contains() { case $1 in *"$2"*) return 0 ;; esac; return 1; }
nothing_left() { [ -z "$(ls -A "$TMPDIR")" ]; }

doctor "$scratch/plain" -h
[ $status -eq 129 ] && grep -q '^usage: git maco doctor' "$scratch/out" && [ ! -s "$scratch/err" ]
check '-h prints usage and exits with 129'

doctor "$scratch/plain" --bogus
[ $status -eq 129 ] && [ ! -s "$scratch/out" ] && grep -q "unknown argument '--bogus'" "$scratch/err"
check 'a wrong argument is a usage error'

(cd "$scratch/plain" && "$MACO_BIN/git-maco" doctor >/dev/full 2>"$scratch/err")
[ $? -eq 128 ] && grep -q 'No space left' "$scratch/err"
check 'an answer that cannot be written is fatal'

json "$scratch/plain"
[ "$(jq -r .schema "$document")" = maco.doctor/1 ] && [ ! -s "$scratch/err" ] &&
  [ "$(wc -l <"$document")" -eq 1 ]
check '--json gives one document'

[ "$(jq -r '[.checks[].id] | join(" ")' "$document")" = \
  "linux wsl container pid-1 cgroup-v2 controller-cpu controller-memory controller-pids\
 user-manager systemd lingering xdg-runtime-dir user-namespaces seccomp openat2 pidfd close-range\
 statx-mount-id landlock git-version maco-run repository state space" ]
check 'every check is there, in its order'

says '[.checks[] | select(.state == "missing" and .fix == "")] == []' &&
  says '[.checks[] | select(.state != "note" and .source == "")] == []'
check 'every miss has a fix, every verdict a source'

says 'all(.checks[]; .state == "ok" or .state == "note" or .state == "missing") and
  (.qualifies == (.probe.verdict == "verified" and
    all(.checks[]; .state != "missing" or .scope == "repository")))'
check 'it qualifies if and only if nothing is missing and the probe was verified'

expected=0
says '.qualifies and all(.checks[]; .state != "missing")' || expected=1
[ $status -eq $expected ]
check 'the status says whether something is missing'

nothing_left
check 'nothing is left of the probe'

[ "$(state openat2)" = ok ] && [ "$(state pidfd)" = ok ] && [ "$(state git-version)" = ok ] &&
  [ "$(state repository)" = note ] && [ "$(state state)" = note ]
check 'outside a repository only the host is looked at'

# This very host, whatever it is.
if [ "$(stat -f -c %t /sys/fs/cgroup 2>/dev/null)" = 63677270 ]; then
  [ "$(state cgroup-v2)" = ok ]
else
  [ "$(state cgroup-v2)" = missing ] && says '.qualifies == false' &&
    says '.probe.verdict == "refused" and .probe.status == 125' &&
    contains "$(of cgroup-v2 fix)" systemd.unified_cgroup_hierarchy=1
fi
check "the layout of this host's cgroups"

doctor "$scratch/plain"
[ $status -eq $expected ] && [ ! -s "$scratch/err" ] &&
  [ "$(grep -c '^ok  \|^MISSING  \|^note  ' "$scratch/out")" -eq 25 ] &&
  [ "$(grep -c '^MISSING' "$scratch/out")" -le "$(grep -c '^ *fix: ' "$scratch/out")" ] &&
  tail -n 1 "$scratch/out" | grep -q '^verified runs '
check 'people get a line for each check, the fixes, and a conclusion'

# A host of cgroup version 1 and a hybrid one, made by covering /sys/fs/cgroup.
covered() { # COMMANDS: as json "$scratch/plain", after the commands in namespaces of its own
  (cd "$scratch/plain" && unshare -rmC sh -c "$1"' && exec "$0" doctor --json' \
    "$MACO_BIN/git-maco") >"$document" 2>"$scratch/err"
  status=$?
}
if unshare -rmC mount -t tmpfs tmpfs /sys/fs/cgroup 2>/dev/null; then
  covered 'mount -t tmpfs tmpfs /sys/fs/cgroup'
  [ $status -eq 1 ] && says '.qualifies == false' && [ "$(state cgroup-v2)" = missing ] &&
    contains "$(of cgroup-v2 source)" 0x1021994 && [ "$(state controller-memory)" = note ]
  check 'without cgroup version 2 it says so and exits with 1'
  says '.probe.verdict == "refused"' &&
    contains "$(jq -r .probe.message "$document")" 'not cgroup version 2'
  check 'and the probe is refused for the same reason'
  covered 'mount -t tmpfs tmpfs /sys/fs/cgroup && mkdir /sys/fs/cgroup/unified &&
    mount -t cgroup2 cgroup2 /sys/fs/cgroup/unified'
  [ $status -eq 1 ] && [ "$(state cgroup-v2)" = missing ] &&
    contains "$(of cgroup-v2 observed)" hybrid
  check 'a hybrid layout is called one'
else
  skip 'cgroup version 1: namespaces cannot be made here'
fi

if unshare -rm true 2>/dev/null && [ "$(id -u)" -eq 0 ]; then
  # A limit that holds for the new user namespace only.
  (cd "$scratch/plain" && unshare -rm sh -c 'echo 0 >/proc/sys/user/max_user_namespaces &&
    exec "$0" doctor --json' "$MACO_BIN/git-maco") >"$document" 2>"$scratch/err"
  [ $? -eq 1 ] && [ "$(state user-namespaces)" = missing ] &&
    contains "$(of user-namespaces source)" 'max_user_namespaces = 0' &&
    contains "$(of user-namespaces fix)" 'sysctl'
  check 'user namespaces that are switched off are named with the setting'
else
  skip 'user namespaces switched off: needs root'
fi

git init -q "$scratch/repo"
json "$scratch/repo"
[ $status -eq 1 ] && [ "$(state repository)" = ok ] && [ "$(state state)" = missing ] &&
  contains "$(of state fix)" 'git maco init' && [ "$(of state scope)" = repository ]
check 'a repository without state is named with its remedy'

(cd "$scratch/repo" && "$MACO_BIN/git-maco" init -q) >"$scratch/id"
before=$(cd "$scratch/repo/.git/maco" && find . | sort | cksum)
json "$scratch/repo"
[ "$(state state)" = ok ] && contains "$(of state observed)" "$(cat "$scratch/id")" &&
  [ "$(state space)" != missing ] && [ "$before" = "$(cd "$scratch/repo/.git/maco" && find . | sort | cksum)" ]
check 'state is found and not changed'

mv "$scratch/repo" "$scratch/moved"
json "$scratch/moved"
[ "$(state state)" = missing ] && contains "$(of state fix)" 'git maco journal rebind' &&
  contains "$(of state observed)" "$scratch/repo/.git"
check 'a moved repository is named with its old place'

rm "$scratch/moved/.git/maco/key"
json "$scratch/moved"
[ "$(state state)" = missing ] && contains "$(of state observed)" "'maco/key' is missing"
check 'damaged state is named'

# Programs that are not there, and environments that lead elsewhere.
mkdir "$scratch/alone"
cp "$MACO_BIN/maco-doctor" "$scratch/alone/"
(cd "$scratch/plain" && "$scratch/alone/maco-doctor" --json) >"$document"
[ $? -eq 1 ] && [ "$(state maco-run)" = missing ] && says '.probe.verdict == "not-run"' &&
  contains "$(of maco-run source)" "$scratch/alone/maco-run" && nothing_left
check 'an incomplete installation is named'

(cd "$scratch/plain" && env -u XDG_RUNTIME_DIR "$MACO_BIN/git-maco" doctor --json) >"$document"
[ "$(state xdg-runtime-dir)" = note ] && contains "$(of xdg-runtime-dir fix)" "/run/user/$(id -u)"
check 'a missing XDG_RUNTIME_DIR is a note'

(cd "$scratch/plain" && GIT_DIR=$scratch/nowhere TMPDIR=relative "$MACO_BIN/git-maco" doctor --json) >"$document"
says '.probe.verdict != "not-run"' && [ ! -e "$scratch/plain/relative" ]
check 'GIT_DIR and a relative TMPDIR do not disturb the probe'

# A stand-in for maco-run that ends the doctor while it is waited for.
printf '#!/bin/sh\nkill -TERM $PPID\n' >"$scratch/alone/maco-run"
chmod +x "$scratch/alone/maco-run"
(cd "$scratch/plain" && exec "$scratch/alone/maco-doctor") >"$scratch/out" 2>&1
[ $? -eq 143 ] && [ ! -s "$scratch/out" ] && nothing_left
check 'nothing is left when a signal ends it'

# One that pretends.
printf '#!/bin/sh\necho "{\\"publishable\\":true}"\n' >"$scratch/alone/maco-run"
(cd "$scratch/plain" && "$scratch/alone/maco-doctor" --json) >"$document"
[ $? -eq 1 ] && says '.qualifies == false and .probe.verdict == "unproven"' &&
  contains "$(jq -r .probe.message "$document")" 'does not verify'
check 'evidence without a signature is none'

echo "1..$count"
exit $failed

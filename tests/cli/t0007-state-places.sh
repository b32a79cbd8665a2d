#!/bin/sh
# The state root in places that are not as they should be: group-writable repositories, file systems without
# locks, files that another program replaced, a read-only Git directory (JRN-01, JRN-03, SNAP-01).
# Needs MACO_BIN, the directory of the built programs.
set -u
: "${MACO_BIN:?set MACO_BIN to the directory of the built programs}"
scratch=$(mktemp -d) || exit 1
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
HOME=$scratch
GIT_CEILING_DIRECTORIES=$scratch
export HOME GIT_CEILING_DIRECTORIES
unset GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR
count=0
failed=0

check() { # NAME: judges the status of the command before it
  if [ $? -eq 0 ]; then r=ok; else r='not ok'; failed=1; fi
  count=$((count + 1))
  echo "$r $count - $1"
  if [ "$r" != ok ]; then printf '# status %s\n# out %s\n# err %s\n' "$status" "$out" "$err"; fi
}
run() { # COMMAND...: output in $out, messages in $err, status in $status; in $repo
  out=$(cd "$repo" && "$@" 2>"$scratch/err")
  status=$?
  err=$(cat "$scratch/err")
}
contains() { case $1 in *"$2"*) return 0 ;; esac; return 1; }
maco=$MACO_BIN/git-maco
fixture=$MACO_BIN/support/state_fixture
without_locks=$MACO_BIN/support/without_locks
fresh() {
  repo=$scratch/repo$((fresh_count = ${fresh_count:-0} + 1))
  git init -q "$repo"
  git -C "$repo" -c user.name=n -c user.email=e commit -q --allow-empty -m first
}
filled() {
  fresh
  (cd "$repo" && "$maco" init -q && "$fixture" .git store claims 2 3) >/dev/null
  u=$(cd "$repo" && "$fixture" .git run run_planned command_started)
}
state() { (cd "$repo/.git/maco" && find . -type f -exec sha256sum {} + | sort); }

# A repository that a group shares: the state is its owner's alone nevertheless.
umask 002
fresh
git -C "$repo" config core.sharedRepository group
run "$maco" init -q
[ "$status" -eq 0 ] && [ -z "$(find "$repo/.git/maco" -perm /077)" ]
check 'umask 002 and a shared repository: nothing of the state is open to others'
run "$fixture" .git store claims 1 1
run "$maco" journal verify
[ "$status" -eq 0 ] && [ -z "$(find "$repo/.git/maco" -perm /077)" ]
check 'umask 002: what is written later is not either'
chmod 0770 "$repo/.git/maco"
run "$maco" journal verify
[ "$status" -eq 128 ] && contains "$err" 'maco'
check 'a state root that the group may write is refused by name'
umask 022

# Without locks nobody may write; reading needs none.
filled
before=$(state)
for verb in "journal resolve --happened --note n $u" 'journal rekey' 'journal archive' 'worktree create one'; do
  # shellcheck disable=SC2086
  run "$without_locks" "$maco" $verb
  [ "$status" -eq 128 ] && contains "$err" 'lock' && [ "$(state)" = "$before" ]
  check "no locks: '${verb%% -*}' says so and changes nothing"
done
run "$without_locks" "$maco" journal verify
[ "$status" -eq 0 ] && contains "$out" ' 0 bad'
check 'no locks: verify reads all the same'
run "$maco" journal resolve --happened --note n "$u"
[ "$status" -eq 0 ]
check 'with locks the same state is written'
fresh
run "$without_locks" "$maco" init
[ "$status" -eq 128 ] && contains "$err" 'lock'
check 'no locks: init says so'
run "$maco" init -q
[ "$status" -eq 0 ]
check 'what a failed init left is completed by the next'

# A lock file that another program replaced: whoever holds the old one does not exclude anybody, and the
# content verifies.
filled
rm "$repo/.git/maco/stores/claims/lock"
(umask 077 && : >"$repo/.git/maco/stores/claims/lock")
run "$fixture" .git store claims 1 1
[ "$status" -eq 0 ] && (cd "$repo" && "$maco" journal verify store/claims) >/dev/null
check 'a lock file that was replaced: the store goes on and verifies'
rm "$repo/.git/maco/stores/claims/lock"
ln -s ../../key "$repo/.git/maco/stores/claims/lock"
run "$fixture" .git store claims 1 1
[ "$status" -ne 0 ] && [ -n "$err" ]
check 'a lock file that is a link is refused'
rm "$repo/.git/maco/stores/claims/lock"
mkfifo "$repo/.git/maco/stores/claims/lock"
run timeout 20 "$maco" journal verify store/claims
[ "$status" -ne 124 ]
check 'a lock file that is a FIFO holds nobody up'

# A clock that goes back: order is by sequence numbers, never by time.
filled
command -v faketime >/dev/null || { echo "Bail out! faketime is missing: scripts/packages-test.txt"; exit 1; }
run faketime '1 year ago' "$fixture" .git store claims 2 2
[ "$status" -eq 0 ] && run "$maco" journal verify && [ "$status" -eq 0 ]
check 'a clock that went back: the store goes on and verifies'
run faketime '1 year ago' "$maco" journal resolve --happened --note n "$u"
[ "$status" -eq 0 ] && run faketime '2 years ago' "$maco" status && [ "$status" -eq 0 ]
check 'a clock that went back: an uncertain run is resolved, and stays so'
run faketime '1 year ago' "$maco" journal rekey
[ "$status" -eq 0 ] && run "$maco" journal verify && [ "$status" -eq 0 ]
check 'a clock that went back: a rekey holds'
git -C "$repo" config user.name n && git -C "$repo" config user.email e
run "$maco" worktree create --claim a one
run "$maco" worktree claim --expires 1h one b
run faketime '1 year ago' "$maco" worktree create two
run faketime '1 year ago' "$maco" worktree claim --take-over two b
[ "$status" -eq 128 ] && contains "$err" "lane 'one'"
check 'a clock that went back: no claim is over by that'
run faketime '2 hours' "$maco" worktree claim --take-over two b
[ "$status" -eq 0 ]
check 'a clock that went on: the claim is over'

# A read-only Git directory.
filled
chmod a-w "$repo/.git/maco" "$repo/.git/maco/runs/$u"
before=$(state)
if [ "$(id -u)" -ne 0 ]; then
  run "$maco" journal resolve --happened --note n "$u"
  [ "$status" -eq 128 ] && [ "$(state)" = "$before" ]
  check 'a state root that cannot be written: said, and nothing lost'
fi
echo "1..$count"
exit "$failed"

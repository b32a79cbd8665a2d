#!/bin/sh
# git maco status: a repository without state, without runs, moved, and with things that are no runs.
# Contract: git-maco-status(1). Needs MACO_BIN, the directory of the built programs, and jq.
set -u
: "${MACO_BIN:?set MACO_BIN to the directory of the built programs}"
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
HOME=$scratch
GIT_CEILING_DIRECTORIES=$scratch
export HOME GIT_CEILING_DIRECTORIES
unset GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR
count=0
failed=0

# check NAME: judges the status of the command before it.
check() {
  if [ $? -eq 0 ]; then r=ok; else r='not ok'; failed=1; fi
  count=$((count + 1))
  echo "$r $count - $1"
}
# run DIR ARGS...: output in $out, messages in $err, status in $status.
run() {
  out=$(cd "$1" && shift && "$MACO_BIN/git-maco" status "$@" 2>"$scratch/err")
  status=$?
  err=$(cat "$scratch/err")
}
contains() { case $1 in *"$2"*) return 0 ;; esac; return 1; }
# says FILTER: whether it holds for the document in $out.
says() { printf %s "$out" | jq -e "$1" >/dev/null; }

git init -q "$scratch/repo"
mkdir "$scratch/repo/sub" "$scratch/plain"

run "$scratch/plain"
[ $status -eq 128 ] && [ -z "$out" ] && contains "$err" 'not a git repository'
check 'outside a repository it is fatal and says why'

run "$scratch/repo"
[ $status -eq 128 ] && [ -z "$out" ] && contains "$err" 'git maco init'
check 'without state it is fatal and names the remedy'

run "$scratch/repo" -h
[ $status -eq 129 ] && contains "$out" 'usage: git maco status' && [ -z "$err" ]
check '-h prints usage and exits with 129'

run "$scratch/repo" --bogus
[ $status -eq 129 ] && contains "$err" "unknown argument '--bogus'"
check 'a wrong argument is a usage error'

id=$(cd "$scratch/repo" && "$MACO_BIN/git-maco" init -q)
run "$scratch/repo/sub"
[ $status -eq 0 ] && [ -z "$err" ] &&
  [ "$out" = "repository  $id in $scratch/repo/.git/maco
runs        0" ]
check 'without runs there is nothing to tell'

run "$scratch/repo" --json
[ $status -eq 0 ] && says ".schema == \"maco.status/1\" and .repository_id == \"$id\" and
  .moved == false and .state_root == \"$scratch/repo/.git/maco\" and .runs.total == 0 and
  .runs.by_last_event.command_started == 0 and .runs.uncertain == [] and .runs.damaged == []"
check '--json gives one document'

(cd "$scratch/repo" && "$MACO_BIN/git-maco" status >/dev/full 2>"$scratch/err")
[ $? -eq 128 ] && grep -q 'No space left' "$scratch/err"
check 'an answer that cannot be written is fatal'

begun=00112233445566778899aabbccddeeff
forged=ffeeddccbbaa99887766554433221100
(umask 077 && mkdir -p "$scratch/repo/.git/maco/runs/$begun" "$scratch/repo/.git/maco/runs/$forged" &&
  head -c 4096 /dev/zero >"$scratch/repo/.git/maco/runs/$forged/run.log" &&
  ln -s /etc "$scratch/repo/.git/maco/runs/link" && : >"$scratch/repo/.git/maco/runs/$(printf 'a\033b')")
run "$scratch/repo"
[ $status -eq 1 ] && [ -z "$err" ] && contains "$out" 'runs        4: 1 without an event, 3 damaged' &&
  contains "$out" "DAMAGED     $forged: " && contains "$out" 'DAMAGED     a\x1bb: ' &&
  contains "$out" 'DAMAGED     link: ' && ! contains "$out" "$begun"
check 'what is no run is damage, each by name, and hides nothing else'

[ "$(printf '%s\n' "$out" | grep -c '^ *fix: ')" -eq 3 ]
check 'each has a line that tells what to do'

run "$scratch/repo" --json
[ $status -eq 1 ] && says '.runs.total == 4 and (.runs.damaged | length) == 3 and
  .runs.by_last_event.none == 1 and all(.runs.damaged[]; .remedy != "")'
check 'the document has the same'

chmod 755 "$scratch/repo/.git/maco/runs"
run "$scratch/repo"
[ $status -eq 128 ] && contains "$err" 'not private'
check 'runs that others may see are refused'
rm -r "$scratch/repo/.git/maco/runs"

mv "$scratch/repo" "$scratch/moved"
run "$scratch/moved"
[ $status -eq 1 ] && contains "$out" "MOVED" && contains "$out" "$scratch/repo/.git" &&
  contains "$out" 'git maco journal rebind'
check 'a moved repository is shown, with the remedy'
run "$scratch/moved" --json
[ $status -eq 1 ] && says ".moved and .recorded_path == \"$scratch/repo/.git\""
check 'and in the document'

echo x >>"$scratch/moved/.git/maco/repository"
run "$scratch/moved"
[ $status -eq 128 ] && [ -z "$out" ] && [ -n "$err" ]
check 'an identity that does not verify is fatal'

echo "1..$count"
exit $failed

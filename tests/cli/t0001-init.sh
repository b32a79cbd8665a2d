#!/bin/sh
# git maco init: first time, again, dry run, JSON, every place to call it from, every refusal.
# Contract: docs/formats/repository.md. Needs MACO_BIN, the directory of the built programs.
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
# init DIR ARGS...: output in $out, messages in $err, status in $status.
init() {
  out=$(cd "$1" && shift && "$MACO_BIN/git-maco" init "$@" 2>"$scratch/err")
  status=$?
  err=$(cat "$scratch/err")
}
is_id() { [ ${#1} -eq 32 ] && [ -z "$(printf %s "$1" | tr -d 0-9a-f)" ]; }
contains() { case $1 in *"$2"*) return 0 ;; esac; return 1; }

git init -q "$scratch/repo"
mkdir "$scratch/repo/sub" "$scratch/plain"

init "$scratch/plain"
[ $status -eq 128 ] && [ -z "$out" ] && contains "$err" 'not a git repository'
check 'outside a repository it is fatal and says why'

init "$scratch/repo" --bogus
[ $status -eq 129 ] && contains "$err" "unknown argument '--bogus'"
check 'a wrong argument is a usage error'

init "$scratch/repo" -h
[ $status -eq 129 ] && contains "$out" 'usage: git maco init' && [ -z "$err" ]
check '-h prints usage and exits with 129'

init "$scratch/repo" -n
[ $status -eq 0 ] && [ -z "$out" ] && contains "$err" "would create: $scratch/repo/.git/maco" &&
  [ ! -e "$scratch/repo/.git/maco" ]
check 'a dry run creates nothing'

init "$scratch/repo/sub"
id=$out
[ $status -eq 0 ] && is_id "$id" && contains "$err" "created: $scratch/repo/.git/maco"
check 'it prints the id, also from below the top'

[ "$(stat -c '%a %F' "$scratch/repo/.git/maco")" = '700 directory' ] &&
  [ "$(stat -c '%a %s' "$scratch/repo/.git/maco/key")" = '600 64' ] &&
  [ "$(stat -c '%a' "$scratch/repo/.git/maco/repository")" = '600' ]
check 'the state is private'

before=$(cat "$scratch/repo/.git/maco/key" "$scratch/repo/.git/maco/repository" | sha256sum)
init "$scratch/repo" --quiet
[ $status -eq 0 ] && [ "$out" = "$id" ] && [ -z "$err" ] &&
  [ "$before" = "$(cat "$scratch/repo/.git/maco/key" "$scratch/repo/.git/maco/repository" | sha256sum)" ]
check 'again, it changes nothing and prints the same id'

init "$scratch/repo" --json -n
[ "$out" = "{\"created\":false,\"dry_run\":true,\"repository_id\":\"$id\",\"schema\":\"maco.init/1\",\"state_root\":\"$scratch/repo/.git/maco\"}" ]
check '--json gives one canonical document'

git -C "$scratch/repo" -c user.name=t -c user.email=t@t commit -q --allow-empty -m x
git -C "$scratch/repo" worktree add -q "$scratch/lane"
init "$scratch/lane" -q
[ "$out" = "$id" ]
check 'a linked worktree has the same identity'

(cd "$scratch/plain" && GIT_DIR=$scratch/repo/.git "$MACO_BIN/git-maco" init -q) >"$scratch/out"
[ "$(cat "$scratch/out")" = "$id" ]
check 'GIT_DIR is honoured'

git init -q --bare "$scratch/bare.git"
init "$scratch/bare.git" -q
[ $status -eq 0 ] && is_id "$out" && [ "$out" != "$id" ]
check 'a bare repository gets its own'

cp -a "$scratch/repo" "$scratch/copy"
init "$scratch/copy"
[ $status -eq 128 ] && [ -z "$out" ] && contains "$err" 'git maco journal rebind'
check 'a copied repository is refused with its remedy'

mv "$scratch/repo" "$scratch/moved"
init "$scratch/moved"
[ $status -eq 128 ] && contains "$err" "$scratch/repo/.git" && contains "$err" 'git maco journal rebind'
check 'a moved repository is refused with its old place'
mv "$scratch/moved" "$scratch/repo"

chmod 750 "$scratch/repo/.git/maco"
init "$scratch/repo"
[ $status -eq 128 ] && contains "$err" "'maco' is not private to you"
check 'a state root that others may enter is refused'
chmod 700 "$scratch/repo/.git/maco"

mv "$scratch/repo/.git/maco/key" "$scratch/key"
init "$scratch/repo"
[ $status -eq 128 ] && contains "$err" "'maco/key' is missing" && [ ! -e "$scratch/repo/.git/maco/key" ]
check 'a lost key is never made anew'
mv "$scratch/key" "$scratch/repo/.git/maco/key"

newline="$scratch/with
newline"
git init -q "$newline"
init "$newline"
[ $status -eq 128 ] && contains "$err" 'newline'
check 'a path with a newline is refused clearly'

git init -q "$scratch/race"
for i in 1 2 3 4 5 6; do
  (cd "$scratch/race" && "$MACO_BIN/git-maco" init -q) >"$scratch/race.$i" 2>&1 &
done
wait
[ "$(cat "$scratch"/race.[1-6] | sort -u | wc -l)" -eq 1 ] && is_id "$(cat "$scratch/race.1")"
check 'six at once agree on one identity'

if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
  # A process that is not root and not dumpable still finds its own /proc entries.
  git init -q "$scratch/theirs"
  chown -R 65534:65534 "$scratch/theirs"
  chmod 755 "$scratch"
  cp "$MACO_BIN/git-maco" "$MACO_BIN/maco-init" "$scratch/"
  out=$(cd "$scratch/theirs" &&
    setpriv --reuid 65534 --regid 65534 --clear-groups "$scratch/git-maco" init -q 2>&1)
  is_id "$out"
  check 'it works for an ordinary user'
  init "$scratch/theirs"
  [ $status -eq 128 ] && contains "$err" 'dubious ownership'
  check "another user's repository is refused with git's reason"
else
  echo "# skipped: ordinary user, other owner (need root and setpriv)"
fi

echo "1..$count"
exit $failed

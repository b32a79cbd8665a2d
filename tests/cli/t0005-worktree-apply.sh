#!/bin/sh
# git maco worktree apply: what it refuses, what it changes, and what a crash in the middle leaves.
# Contract: git-maco-worktree(1), docs/formats/lane.md. Needs MACO_BIN, jq; crash/kill-at if built.
# shellcheck disable=SC2119,SC2181
set -u
# shellcheck source=tests/cli/t0005-functions.inc
. "$(dirname "$0")/t0005-functions.inc"

# refuses TEXT [OPTION]...: apply says no, names it, and nothing is changed.
refuses() {
  text=$1
  shift
  before=$(picture)
  run apply "$@" alpha
  [ $status -eq 1 ] && contains "$err" "$text" && [ "$(picture)" = "$before" ]
}
stops() {
  text=$1
  shift
  before=$(picture)
  run apply "$@" alpha
  [ $status -eq 128 ] && contains "$err" "$text" && [ "$(picture)" = "$before" ]
}
# ready: a repository and a lane with an accepted candidate of all kinds of changes.
ready() {
  fresh
  mkdir "$repo/tree" && echo 1 >"$repo/tree/one" && echo 2 >"$repo/tree/two" && echo flat >"$repo/flat" && save more
  create alpha
  change
  take alpha
}
change() {
  echo more >>"$lane/src/a"
  rm -r "$lane/src2"
  echo new >"$lane/src/new"
  chmod -x "$lane/tool"
  ln -sfn src/new "$lane/link"
  printf '\000\001\003' >"$lane/image.bin"
  rm -r "$lane/tree" && echo file >"$lane/tree"
  rm "$lane/flat" && mkdir -p "$lane/flat/deep" && echo directory >"$lane/flat/deep/file"
  rm "$lane/docs/d" && ln -s ../tool "$lane/docs/d"
}
# as_lane DIRECTORY: whether its files are those of the lane.
as_lane() { diff -r --no-dereference -x .git -x '*.env' "$1" "$lane" >/dev/null && [ "$(stat -c %A "$1/tool")" = "$(stat -c %A "$lane/tool")" ]; }
clean_git() { [ -z "$(find "$1" -maxdepth 1 \( -name 'maco-apply*' -o -name 'index.*' \))" ]; }

ready
run apply -n alpha
[ $status -eq 0 ] && contains "$out" 'would apply M src/a' && [ -z "$(git -C "$repo" status --porcelain)" ]
check 'apply: a dry run'
head=$(git -C "$repo" rev-parse HEAD)
run apply alpha
[ $status -eq 0 ] && as_lane "$repo" && [ -z "$(git -C "$repo" diff --name-only)" ] && [ "$(git -C "$repo" rev-parse HEAD)" = "$head" ] && clean_git "$repo/.git"
check 'WT-05 apply to files and index'
[ "$(git -C "$repo" write-tree)" = "$(run show --stat --json alpha && printf %s "$out" | jq -r .tree)" ]
check 'WT-05 the index has the tree of the candidate'
[ ! -e "$repo/src2" ]
check 'a directory without files goes'
run apply alpha
[ $status -eq 1 ] && contains "$err" 'applied, not accepted'
check 'WT-04 once'
run show --stat --json alpha
says '.state == "applied"'
check 'WT-04 it is recorded'
run remove alpha
[ $status -eq 0 ]
check 'WT-07 an applied lane may go'

ready
echo mine >>"$repo/src/b" && echo staged >>"$repo/.gitignore" && git -C "$repo" add .gitignore && echo other >"$repo/untracked"
run apply --commit -m 'Take it' alpha
[ $status -eq 0 ] && [ "$(git -C "$repo" status --porcelain | tr '\n' ,)" = 'M  .gitignore, M src/b,?? untracked,' ]
check 'WT-05 unrelated changes stay as they are'
[ "$(git -C "$repo" log -1 --format='%s %an')" = 'Take it Operator' ] && git -C "$repo" log -1 --format=%B | grep -q "^Maco-Candidate: $id$" &&
  [ "$(git -C "$repo" rev-parse 'HEAD^{tree}')" = "$(run show --stat --json alpha && printf %s "$out" | jq -r .tree)" ] && git -C "$repo" fsck --strict 2>/dev/null
check 'WT-05 apply --commit makes one commit with the tree of the candidate'
git -C "$repo" reflog -1 | grep -q 'maco: apply lane alpha'
check 'and a line in the reflog'
mv "$repo/.git/maco/lanes" "$scratch/lanes-away" && git -C "$repo" fsck --full 2>/dev/null && git -C "$repo" cat-file -e HEAD:src/new && mv "$scratch/lanes-away" "$repo/.git/maco/lanes"
check 'the repository has all objects itself'

ready
run apply --worktree alpha
[ $status -eq 0 ] && as_lane "$repo" && [ -z "$(git -C "$repo" diff --cached --name-only)" ]
check 'WT-05 apply --worktree changes no index'
ready
run_in "$repo/docs" apply alpha
[ $status -eq 0 ] && as_lane "$repo"
check 'section 0 from a subdirectory all is applied'
ready
git -C "$repo" worktree add -q -b side "$scratch/side$fresh_count"
run_in "$scratch/side$fresh_count" apply --commit alpha
[ $status -eq 0 ] && as_lane "$scratch/side$fresh_count" && [ -z "$(git -C "$scratch/side$fresh_count" status --porcelain)" ] && [ -z "$(git -C "$repo" status --porcelain)" ] &&
  [ "$(git -C "$repo" rev-parse side)" != "$(git -C "$repo" rev-parse main)" ]
check 'WT-05 apply in another working tree'
ready
git -C "$repo" checkout -q --detach && run apply --commit alpha
[ $status -eq 0 ] && [ "$(git -C "$repo" rev-parse main)" != "$(git -C "$repo" rev-parse HEAD)" ] && ! git -C "$repo" symbolic-ref -q HEAD
check 'WT-05 on a detached HEAD'
fresh --object-format=sha256
create alpha && echo x >>"$lane/src/a" && take alpha && run apply --commit alpha
[ $status -eq 0 ] && git -C "$repo" fsck 2>/dev/null
check 'C36 in a repository with SHA-256'
fresh
git clone -q --depth 1 "file://$repo" "$scratch/shallow" && repo=$scratch/shallow && lanes=$repo.lanes && (cd "$repo" && "$MACO_BIN/git-maco" init -q)
create alpha && echo x >>"$lane/src/a" && take alpha && run apply --commit alpha
[ $status -eq 0 ] && git -C "$repo" fsck 2>/dev/null
check 'in a shallow clone'
ready
run apply --commit --index alpha
[ $status -eq 129 ]
check 'two modes are a usage error'
run apply -m x alpha
[ $status -eq 129 ]
check 'a message without a commit is one'
run apply --continue alpha
[ $status -eq 1 ] && contains "$err" 'cut short'
check 'there is nothing to continue'
(cd "$repo" && GIT_DIR=$repo/.git GIT_INDEX_FILE=$scratch/no-index GIT_WORK_TREE=$repo "$MACO_BIN/git-maco" worktree apply alpha) >/dev/null && as_lane "$repo" && [ -z "$(git -C "$repo" diff --name-only)" ] && [ ! -e "$scratch/no-index" ]
check 'C24 variables of a hook'

# What is refused (WT-05).
ready
run_in "$lane" apply alpha
[ $status -eq 128 ] && contains "$err" 'the lane itself'
check 'not to the lane itself'
run_in "$repo/.git" apply alpha
[ $status -eq 128 ]
check 'not without a working tree'
for mode in index worktree commit; do
  echo mine >>"$repo/src/a"
  refuses "'src/a' has changes that are not committed" --$mode
  check "WT-05 --$mode: a changed file"
  git -C "$repo" add src/a
  refuses "'src/a' has staged changes" --$mode
  check "WT-05 --$mode: a staged file"
  git -C "$repo" show HEAD:src/a >"$repo/src/a"
  refuses "'src/a' has" --$mode
  check "WT-05 --$mode: a staged file whose change is taken back in the tree"
  git -C "$repo" reset -q --hard
  echo mine >"$repo/src/new"
  refuses "'src/new' is there already" --$mode
  check "WT-05 --$mode: an untracked file in the way"
  git -C "$repo" add -N src/new
  refuses "'src/new' " --$mode
  check "WT-05 --$mode: one that is to be added"
  git -C "$repo" rm -q -f --cached src/new
  rm "$repo/src/new" && mkdir "$repo/src/new" && echo mine >"$repo/src/new/mine"
  refuses "'src/new" --$mode
  check "WT-05 --$mode: a directory in the way of a file"
  rm -r "$repo/src/new"
  echo mine >"$repo/tree/x.env"
  refuses "'tree" --$mode
  check "WT-05 --$mode: an ignored file in a directory that becomes a file"
  rm "$repo/tree/x.env"
  chmod -x "$repo/tool"
  refuses "'tool' has changes" --$mode
  check "WT-05 --$mode: a changed mode"
  chmod +x "$repo/tool"
  rm "$repo/src/a"
  refuses "'src/a' has changes" --$mode
  check "WT-05 --$mode: a removed file"
  git -C "$repo" checkout -q src/a
  git -C "$repo" update-index --assume-unchanged src/a && echo mine >>"$repo/src/a"
  refuses "'src/a'" --$mode
  check "WT-05 --$mode: an assume-unchanged file"
  git -C "$repo" update-index --no-assume-unchanged src/a && git -C "$repo" checkout -q src/a
done
[ -z "$(git -C "$repo" status --porcelain)" ] && echo moved >>"$repo/src/a" && git -C "$repo" commit -q -a -m moved
refuses "'src/a' is not in HEAD as it was in the base"
check 'WT-05 a base that moved under a path'
git -C "$repo" reset -q --hard HEAD~1 && echo elsewhere >>"$repo/src/b" && git -C "$repo" commit -q -a -m elsewhere
run apply --commit alpha
[ $status -eq 0 ] && [ -z "$(git -C "$repo" status --porcelain)" ] && grep -q elsewhere "$repo/src/b" && grep -q more "$repo/src/a"
check 'WT-05 a base that moved elsewhere'
ready
git -C "$repo" checkout -q -b other && echo o >>"$repo/src/b" && git -C "$repo" commit -q -a -m other && git -C "$repo" checkout -q main &&
  git -C "$repo" merge -q --no-ff --no-commit other >/dev/null 2>&1
stops 'a merge, rebase or the like'
check 'WT-05 a merge is going on'
git -C "$repo" merge --abort
: >"$repo/.git/index.lock"
stops "index.lock' exists"
check 'C34 an index.lock of git stays'
rm "$repo/.git/index.lock"
mv "$repo/.git/index" "$scratch/index"
run apply alpha
[ $status -eq 128 ] && contains "$err" 'index is missing' && [ ! -e "$repo/.git/index" ]
check 'C34 a missing index'
mv "$scratch/index" "$repo/.git/index"
git -C "$repo" update-index --split-index
stops 'split'
check 'a split index is refused by name'
git -C "$repo" update-index --no-split-index
echo '*.bin filter=x' >"$repo/.gitattributes"
refuses "'image.bin' is written by the filter 'x'"
check 'C29 what a filter writes is not applied'
rm "$repo/.gitattributes"
git config --global --unset user.name
stops 'user.name' --commit
check 'a commit needs a name'
git config --global user.name Operator
git -C "$repo" sparse-checkout set --cone docs >/dev/null 2>&1
refuses 'not checked out here'
check 'C36 what is not checked out is not applied'
git -C "$repo" sparse-checkout disable
create beta --claim src/a
lane=$lanes/alpha
refuses "'src/a' is claimed by lane 'beta'"
check 'WT-05 a claim of another lane since'
run release beta
git config --global maco.worktreeValidation true
refuses 'no run has validated'
check 'WT-05 without the validation that is asked for'
git config --global --unset maco.worktreeValidation
run apply alpha
[ $status -eq 0 ] && as_lane "$repo"
check 'and then it is applied'

# Modes that the target does not keep.
fresh
create alpha && echo x >>"$lane/tool" && chmod +x "$lane/docs/d" && take alpha
git -C "$repo" config core.fileMode false && chmod -x "$repo/tool" && run apply alpha
[ $status -eq 0 ] && [ "$(git -C "$repo" ls-files -s tool docs/d | cut -c1-6 | tr '\n' ,)" = '100755,100755,' ] && [ "$(tail -n1 "$repo/tool")" = x ]
check 'WT-05 C37a with core.fileMode=false other modes of files are no changes'
fresh
create alpha && echo x >>"$lane/tool" && take alpha
chmod -x "$repo/tool" && run apply alpha
[ $status -eq 1 ] && contains "$err" "'tool' has changes that are not committed"
check 'and without it they are'

# A crash in the middle (WT-05): at each state call, then --continue, or --abort.
kill_at=$MACO_BIN/crash/kill-at
if [ ! -x "$kill_at" ]; then
  echo "# no $kill_at: crashes are not tried"
  finish
fi
# restart: the repository as it was; its Git directory stays the same one, to which the state is bound.
restart() {
  find "$repo" -mindepth 1 ! -path "$repo/.git" -delete && cp -a "$scratch/kept/." "$repo"
}
keep() { rm -rf "$scratch/kept" && cp -a "$repo" "$scratch/kept"; }
step=${MACO_CRASH_EVERY:-61}
for mode in commit index worktree; do
  ready
  echo mine >>"$repo/src/b" && cp "$repo/src/b" "$scratch/mine"
  git -C "$repo" status >/dev/null
  keep
  cp -a "$repo" "$scratch/plain$mode"
  head=$(git -C "$repo" rev-parse HEAD)
  tree=$(run show --stat --json alpha && printf %s "$out" | jq -r .tree)
  k=$((1 + fresh_count % step)) wrong='' points=0 pending=0
  while :; do
    restart
    (cd "$repo" && "$kill_at" kill $k "$scratch/report" "$MACO_BIN/maco-worktree" apply --$mode alpha) >/dev/null 2>&1
    [ $? -eq 3 ] && break
    points=$((points + 1))
    for way in continue abort; do
      restart
      (cd "$repo" && "$kill_at" kill $k "$scratch/report" "$MACO_BIN/maco-worktree" apply --$mode alpha) >/dev/null 2>&1
      # What git itself leaves when it is killed is for the user to remove.
      rm -f "$repo/.git/HEAD.lock" "$repo/.git/refs/heads/main.lock"
      run apply --$way alpha
      said=$out
      state=$(run show --stat --json alpha && printf %s "$out" | jq -r .state)
      if [ $status -eq 1 ] && [ $way = continue ]; then
        run apply --$mode alpha # it had not begun, or was done
        [ "$state" = applied ] || [ $status -eq 0 ] || wrong="$wrong $k:$way:again:$(head -c 300 "$scratch/err")"
        state=applied
      elif [ $status -eq 0 ]; then
        pending=$((pending + 1))
        if [ $way = abort ] && contains "$said" "undone "; then late=$k; fi
      elif [ $status -ne 1 ]; then
        wrong="$wrong $k:$way:$status:$(head -c 300 "$scratch/err")"
      fi
      if [ "$state" = applied ]; then
        cp "$scratch/mine" "$lane/src/b"
        as_lane "$repo" || wrong="$wrong $k:$way:files"
        git -C "$lane" checkout -q src/b
        [ $mode != commit ] || [ "$(git -C "$repo" rev-parse 'HEAD^{tree}')" = "$tree" ] || wrong="$wrong $k:$way:tree"
        [ $mode = worktree ] || git -C "$repo" diff --quiet -- src/a src/new flat tree || wrong="$wrong $k:$way:index"
      else
        diff -r --no-dereference -x .git "$repo" "$scratch/plain$mode" >/dev/null || wrong="$wrong $k:$way:files-back"
        [ "$(git -C "$repo" rev-parse HEAD)" = "$head" ] || wrong="$wrong $k:$way:head"
        git -C "$repo" diff --cached --quiet || wrong="$wrong $k:$way:index-back"
        # What was left before it had begun is no hindrance.
        run repair
      fi
      git -C "$repo" fsck >/dev/null 2>&1 || wrong="$wrong $k:$way:fsck"
      clean_git "$repo/.git" || wrong="$wrong $k:$way:left"
      [ "$(cat "$repo/src/b")" = "$(cat "$scratch/mine")" ] || wrong="$wrong $k:$way:mine"
    done
    k=$((k + step))
  done
  out=$wrong
  [ -z "$wrong" ] && [ $points -gt 5 ] && [ $pending -gt 2 ]
  check "WT-05 --$mode cut short at $points points, then finished or undone"
done

# Cut short twice: while it is applied, and while that is undone. One direction always works.
wrong='' points=0 refused=0 ended=0 j=2
while :; do
  restart
  (cd "$repo" && "$kill_at" kill "$late" "$scratch/report" "$MACO_BIN/maco-worktree" apply --worktree alpha) >/dev/null 2>&1
  (cd "$repo" && "$kill_at" kill $j "$scratch/report" "$MACO_BIN/maco-worktree" apply --abort alpha) >/dev/null 2>&1
  [ $? -eq 3 ] && break
  points=$((points + 1))
  run apply --continue alpha
  if [ $status -eq 128 ]; then
    contains "$err" 'undoing the apply' || wrong="$wrong $j:$(head -c 300 "$scratch/err")"
    refused=$((refused + 1))
    run apply --abort alpha
    [ $status -eq 0 ] || wrong="$wrong $j:abort:$(head -c 300 "$scratch/err")"
  fi
  if [ "$(run show --stat --json alpha && printf %s "$out" | jq -r .state)" = applied ]; then
    cp "$scratch/mine" "$lane/src/b"
    as_lane "$repo" || wrong="$wrong $j:files"
    git -C "$lane" checkout -q src/b
  else
    ended=$((ended + 1))
    diff -r --no-dereference -x .git "$repo" "$scratch/plainworktree" >/dev/null || wrong="$wrong $j:files-back"
  fi
  clean_git "$repo/.git" || { run repair; clean_git "$repo/.git"; } || wrong="$wrong $j:left"
  j=$((j + (step + 2) / 3))
done
out="$wrong ($points points, $refused refused, $ended undone)"
[ -z "$wrong" ] && [ $points -gt 3 ] && [ $refused -gt 0 ] && [ $ended -gt 0 ]
check "WT-05 cut short, and its undoing cut short at $points points"
# A refusal changes nothing, and leaves git its index.
restart
(cd "$repo" && "$kill_at" kill "$late" "$scratch/report" "$MACO_BIN/maco-worktree" apply --worktree alpha) >/dev/null 2>&1
was=$(cat "$repo/src/a")
echo other >"$repo/src/a"
run apply --abort alpha
[ $status -eq 1 ] || [ $status -eq 128 ] && [ "$(cat "$repo/src/a")" = other ] && [ ! -e "$repo/.git/index.lock" ] && git -C "$repo" add -N . && git -C "$repo" reset -q
check 'what was edited meanwhile is refused, and git can be used'
printf '%s\n' "$was" >"$repo/src/a"
run apply --abort alpha
[ $status -eq 0 ]
check 'and undone when it was put back'

finish

#!/bin/sh
# git maco worktree: create, list, claim, release, owner, intent, hook, remove, restore, gc, repair.
# Contract: git-maco-worktree(1), docs/formats/lane.md. Needs MACO_BIN, jq.
# shellcheck disable=SC2119,SC2181
set -u
# shellcheck source=tests/cli/t0005-functions.inc
. "$(dirname "$0")/t0005-functions.inc"

fresh
run
[ $status -eq 129 ] && contains "$err" 'no command given'
check 'without a command it is a usage error'
run bogus
[ $status -eq 129 ] && contains "$err" "unknown command 'bogus'"
check 'an unknown command is a usage error'
run list --discard
[ $status -eq 129 ] && contains "$err" "'list' takes no --discard"
check 'an option of another command is a usage error'
run create --bogus x
[ $status -eq 129 ] && contains "$err" "unknown option '--bogus'"
check 'an unknown option is a usage error'
run create
[ $status -eq 129 ] && contains "$err" 'number of arguments'
check 'create needs a name'
run gc --max-age soon
[ $status -eq 129 ] && contains "$err" '--max-age'
check 'a time that is none is a usage error'
run list
[ $status -eq 0 ] && [ -z "$out" ]
check 'no lanes'
run capture alpha
[ $status -eq 128 ] && contains "$err" "no lane 'alpha'"
check 'a lane that is not there is named'

# WT-01, C21: names.
for name in a/b .hidden a.lock 'a b' -x 'a.' a..b "$(printf 'a\nb')" "$(printf 'a\377')" '' \
  abcdefghijabcdefghijabcdefghijabcdefghijabcdefghi; do
  before=$(picture)
  run create -- "$name"
  [ $status -eq 128 ] && contains "$err" 'is no name of a lane' && [ "$(picture)" = "$before" ]
  check "WT-01 C21: no name of a lane: $(printf %s "$name" | od -An -c | tr -d ' \n')"
done
run create -n alpha
[ $status -eq 0 ] && contains "$out" 'would create' && [ ! -e "$lanes" ]
check 'create: a dry run'
create alpha
[ $status -eq 0 ] && [ "$out" = "$lane" ] && [ "$(cat "$lane/src/a")" = a ] && [ -x "$lane/tool" ] &&
  [ "$(readlink "$lane/link")" = src/a ] && [ -z "$(git -C "$lane" status --porcelain)" ]
check 'WT-01 a linked lane'
[ "$(git -C "$lane" symbolic-ref HEAD)" = refs/heads/maco/alpha ] &&
  [ "$(git -C "$lane" rev-parse HEAD)" = "$(git -C "$repo" rev-parse HEAD)" ]
check 'WT-01 it is on its branch at the base'
[ "$(stat -c %a "$repo/.git/maco/lanes/$(lane_id alpha)")" = 700 ] &&
  [ "$(stat -c %a "$repo/.git/maco/lanes/$(lane_id alpha)/patch")" = 600 ]
check 'WT-06 the leaf of its patch is reserved'
mv "$lane" "$scratch/away" && git -C "$repo" worktree prune --expire=now && mv "$scratch/away" "$lane" &&
  git -C "$lane" status >/dev/null
check 'C25 it survives a prune while it is not to be seen'
before=$(picture)
create alpha
[ $status -eq 128 ] && contains "$err" "a lane 'alpha' already" && [ "$(picture)" = "$before" ]
check 'a name is used once'
create v1.2_x-y --private --base HEAD
[ $status -eq 0 ] && [ -d "$lane/.git" ] && [ -z "$(git -C "$lane" status --porcelain)" ] &&
  [ "$(git -C "$lane" rev-parse HEAD)" = "$(git -C "$repo" rev-parse HEAD)" ]
check 'WT-01 a private lane, and a name with dots'
before=$(git -C "$repo" for-each-ref; find "$repo/.git/objects" | sort)
echo more >>"$lane/src/a"
git -C "$lane" commit -q -a -m inside && git -C "$lane" branch other && git -C "$lane" stash list >/dev/null &&
  [ "$(git -C "$repo" for-each-ref; find "$repo/.git/objects" | sort)" = "$before" ]
check 'WT-09 a commit in it touches nothing of the repository'
git -C "$lane" rebase -q HEAD~1 && git -C "$lane" fsck --strict >/dev/null 2>&1
check 'WT-09 it is a repository'
run list --json
[ $status -eq 0 ] && says '[.lanes[].name] == ["alpha", "v1.2_x-y"] and .lanes[0].state == "open"'
check 'list: JSON'
run list -z
[ "$(cd "$repo" && "$MACO_BIN/git-maco" worktree list -z | tr '\000' /)" = alpha/v1.2_x-y/ ]
check 'list: names'

# Creation that fails leaves nothing (WT-07, C29).
before=$(picture)
run create --base no-such gamma
[ $status -eq 128 ] && contains "$err" "'no-such' names no commit" && [ "$(picture)" = "$before" ]
check 'WT-01 a base that is not there'
run create --base HEAD:src gamma
[ $status -eq 128 ] && contains "$err" 'names no commit'
check 'WT-01 a base that is no commit'
git -C "$repo" branch maco/gamma
before=$(picture)
create gamma
[ $status -eq 128 ] && contains "$err" maco/gamma && [ "$(picture)" = "$before" ] &&
  git -C "$repo" rev-parse -q --verify refs/heads/maco/gamma >/dev/null
check 'WT-07 a branch of the user that has the name stays'
git -C "$repo" branch -q -D maco/gamma
git -C "$repo" worktree add -q --detach "$scratch/else/gamma"
mkdir "$lanes/gamma" && echo mine >"$lanes/gamma/mine"
before=$(picture)
create gamma
[ $status -eq 128 ] && contains "$err" 'is no lane' && [ "$(picture)" = "$before" ]
check 'WT-07 what lies where the lane would be stays'
rm -r "$lanes/gamma"
git -C "$repo" update-ref refs/heads/maco/gamma/below HEAD
before=$(picture)
create gamma
[ $status -eq 128 ] && [ "$(picture)" = "$before" ] && git -C "$scratch/else/gamma" status >/dev/null
check 'C29 WT-07 git refuses the branch: nothing is left, and a worktree of the same name stays'
git -C "$repo" update-ref -d refs/heads/maco/gamma/below
create gamma && [ $status -eq 0 ] && [ "$(git -C "$lane" rev-parse --git-dir)" != "$repo/.git/worktrees/gamma" ]
check 'a lane with the name of another worktree'
run remove --discard gamma && run gc --max-age 1s
[ $status -eq 129 ] && until_old() { run gc --max-age 1; contains "$out" "deleted $1"; } && {
  until until_old gamma; do :; done
  git -C "$scratch/else/gamma" status >/dev/null && ! git -C "$repo" rev-parse -q --verify maco/gamma >/dev/null
}
check 'WT-07 gc removes the lane and not the other worktree'
git -C "$repo" worktree remove "$scratch/else/gamma"
ln -s "$repo/src" "$scratch/inside"
for root in "$repo/lanes" "$scratch/inside" "$repo/.git/x"; do
  git config --global maco.worktreeRoot "$root"
  before=$(picture)
  run create gamma
  [ $status -eq 128 ] && contains "$err" worktreeRoot && [ "$(picture)" = "$before" ]
  check "WT-06 lanes inside the working tree: ${root##*/}"
  run_in "$lanes/alpha" create gamma
  [ $status -eq 128 ] && contains "$err" worktreeRoot && [ "$(picture)" = "$before" ]
  check "WT-06 the same, from another working tree: ${root##*/}"
done
git config --global maco.worktreeRoot relative
run list
[ $status -eq 128 ] && contains "$err" 'not an absolute path'
check 'maco.worktreeRoot is absolute'
mkdir "$scratch/real" && ln -s real "$scratch/symlink"
git config --global maco.worktreeRoot "$scratch/symlink//"
run create delta
[ $status -eq 0 ] && [ "$out" = "$scratch/real/${repo##*/}/delta" ]
check 'maco.worktreeRoot'
run claim delta docs
(cd "$out$scratch/real/${repo##*/}/delta" && echo x >>docs/d && git add -A &&
  "$MACO_BIN/git-maco" worktree owner --staged) >/dev/null 2>&1
check 'WT-02 a lane behind a symbolic link is known as itself'
run_in "$scratch/real/${repo##*/}/delta" apply delta
[ $status -eq 128 ]
check 'and nothing is applied to it'
git config --global --unset maco.worktreeRoot
git -C "$repo" config maco.worktreeRoot "$scratch/hostile"
run create epsilon
[ $status -eq 0 ] && contains "$err" 'does not count' && [ ! -e "$scratch/hostile" ] && [ -d "$lanes/epsilon" ]
check 'C22 the repository does not say where lanes go'
git -C "$repo" config --unset maco.worktreeRoot

# Other kinds of repository.
bare_fresh && (cd "$repo" && "$MACO_BIN/git-maco" init -q)
run create alpha
[ $status -eq 128 ] && contains "$err" 'no commit' && [ ! -e "$lanes" ] && [ "$(run list && echo "$out")" = '' ]
check 'C28 an unborn HEAD'
fresh
git clone -q --bare "$repo" "$scratch/bare.git" && (cd "$scratch/bare.git" && "$MACO_BIN/git-maco" init -q)
run_in "$scratch/bare.git" create alpha
[ $status -eq 0 ] && [ "$(cat "$scratch/bare.lanes/alpha/src/a")" = a ]
check 'C36 a lane of a bare repository'
run_in "$scratch/bare.git" create --claim src beta
[ $status -eq 128 ] && contains "$err" 'bare' && [ ! -e "$scratch/bare.lanes/beta" ]
check 'C36 a claim needs a working tree'
echo more >>"$scratch/bare.lanes/alpha/src/a"
run_in "$scratch/bare.git" capture alpha
[ $status -eq 0 ]
check 'C36 and is captured'
git init -q "$scratch/outer" && git -C "$scratch/outer" submodule --quiet add "$repo" sub &&
  (cd "$scratch/outer/sub" && "$MACO_BIN/git-maco" init -q)
run_in "$scratch/outer/sub" create alpha
[ $status -eq 128 ] && contains "$err" submodule
check 'C26 a submodule is refused by name'
git -C "$repo" sparse-checkout set --cone docs >/dev/null 2>&1
create alpha && [ $status -eq 0 ] && [ -e "$lane/src/a" ] && [ -z "$(git -C "$lane" status --porcelain)" ]
check 'C36 a sparse repository gives whole lanes'
git -C "$repo" sparse-checkout disable
fresh --object-format=sha256
create alpha && [ $status -eq 0 ] && create beta --private && echo x >>"$lane/src/a" && git -C "$lane" commit -q -a -m x &&
  run capture beta && [ $status -eq 0 ]
check 'C36 a repository with SHA-256'
fresh
git clone -q --depth 1 "file://$repo" "$scratch/shallow" && repo=$scratch/shallow && lanes=$repo.lanes &&
  (cd "$repo" && "$MACO_BIN/git-maco" init -q)
create alpha --private && [ $status -eq 0 ] && git -C "$lane" log --oneline >/dev/null 2>&1
check 'a private lane of a shallow clone has its history'
fresh
git -C "$repo" config core.bare false
before=$(sha256sum "$repo/.git/config")
out=$(cd "$repo/src" && GIT_DIR=$repo/.git GIT_WORK_TREE=$repo GIT_INDEX_FILE=$scratch/no-index "$MACO_BIN/git-maco" worktree create alpha 2>&1) &&
  [ "$(sha256sum "$repo/.git/config")" = "$before" ] && [ -e "$lanes/alpha/src/a" ] && [ ! -e "$scratch/no-index" ]
check 'C24 the variables of a hook change nothing'

# .worktreeinclude
fresh
echo secret >"$repo/x.env" && mkdir -p "$repo/deep" && echo deep >"$repo/deep/y.env" && ln -s x.env "$repo/l.env"
mkfifo "$repo/f.env"
echo mine >"$repo/own.private" && echo '*.private' >>"$repo/.git/info/exclude"
printf '*.env\n*.private\nsrc\n' >"$repo/.worktreeinclude"
create alpha
[ $status -eq 0 ] && [ "$(cat "$lane/x.env")" = secret ] && [ "$(cat "$lane/deep/y.env")" = deep ] && [ ! -e "$lane/l.env" ]
check 'ignored files that are asked for are copied, links are not'
[ ! -e "$lane/own.private" ]
check 'what only info/exclude ignores is not copied: a capture would take it'
run capture alpha
[ $status -eq 1 ] && contains "$err" 'no change'
check 'what was copied is no change'
echo none >"$scratch/include"
create beta --include "$scratch/include" && [ $status -eq 0 ] && [ ! -e "$lane/x.env" ]
check 'another file than .worktreeinclude'

# Claims (WT-02).
fresh
create alpha --claim src --claim 'a,b'
[ $status -eq 0 ] && run list --json && says '.lanes[0].claims == ["src", "a,b"]'
check 'WT-02 a lane with claims, one with a comma'
before=$(picture)
for path in src src/b src/new/deep . ./src/ docs/../src "$repo/src" 'a,b/c' link; do
  create beta --claim "$path"
  [ $status -eq 128 ] && contains "$err" "lane 'alpha' has" && [ "$(picture)" = "$before" ]
  check "WT-02 an overlap is refused: ${path##*/}"
done
create beta --claim src2 --claim tool
[ $status -eq 0 ]
check "WT-02 'src2' does not overlap 'src'"
run_in "$repo/src" claim beta a
[ $status -eq 128 ] && contains "$err" "'src/a' is claimed"
check 'WT-02 paths count from the current directory'
ln -s "$repo" "$scratch/alias"
run claim beta "$scratch/alias/src/a"
[ $status -eq 128 ] && contains "$err" "'src/a' is claimed"
check 'WT-02 an absolute path through a symbolic link'
ln -s src "$repo/way"
run claim beta way/b
[ $status -eq 128 ] && contains "$err" "'src/b' is claimed"
check 'WT-02 a symbolic link in the tree'
rm "$repo/way"
for path in .. ../x src/../../x /etc "$scratch/else"; do
  run claim beta "$path"
  [ $status -eq 128 ] && contains "$err" 'out of the working tree'
  check "WT-02 a path out of the tree: $path"
done
for path in .git .GIT/config src/.git/hooks; do
  run claim beta "$path"
  [ $status -eq 128 ] && contains "$err" "git's own"
  check "WT-02 a path of git's own: $path"
done
run claim beta ''
[ $status -eq 128 ] && contains "$err" 'empty path'
check 'WT-02 an empty path'
run claim beta SRC/x
[ $status -eq 0 ]
check 'WT-02 C37 letters differ'
run release beta SRC
for value in true TRUE yes 2; do
  git -C "$repo" config core.ignorecase $value
  run claim beta SRC/x
  [ $status -eq 128 ] && contains "$err" "lane 'alpha' has 'src'"
  check "WT-02 C37 where core.ignorecase is $value they match"
done
git -C "$repo" config core.ignorecase false
run claim beta
[ $status -eq 129 ]
check 'claim needs a path'
run claim -n beta docs/d
[ $status -eq 0 ] && contains "$out" 'would claim' && run owner docs/d && [ "${out%% *}" = - ]
check 'claim: a dry run'
run claim --expires 1 beta docs/d && run claim alpha docs
[ $status -eq 128 ] && contains "$err" 'docs/d'
check 'WT-02 a claim with a time excludes'
over() { run claim alpha docs; contains "$err" 'that time is over'; }
until over; do :; done
[ $status -eq 128 ] && contains "$err" --take-over
check 'WT-02 and when that is over too'
lease=$repo/.git/maco/lanes/$(lane_id beta)/lease
python3 - "$lease" "$scratch/held" "$scratch/free" <<'P' &
import fcntl, os, struct, sys
fd = os.open(sys.argv[1], os.O_RDWR)
fcntl.fcntl(fd, 37, struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 0, 0, 0))  # F_OFD_SETLK
os.mkfifo(sys.argv[3])
open(sys.argv[2], "w").close()
open(sys.argv[3]).read()
P
until [ -e "$scratch/held" ]; do :; done
run claim --take-over alpha docs
[ $status -eq 128 ] && contains "$err" "lane 'beta' is in use"
check 'WT-02 but a lane in use keeps it'
run capture beta
[ $status -eq 128 ] && contains "$err" 'in use'
check 'a lane in use is not captured'
run remove --discard beta
[ $status -eq 128 ] && contains "$err" 'in use' && [ -d "$lanes/beta" ]
check 'WT-07 nor removed'
echo >"$scratch/free"
wait
run claim --take-over alpha docs
[ $status -eq 0 ] && run owner docs/d && contains "$out" alpha
check 'WT-02 a claim is taken over'
run claim --take-over beta src
[ $status -eq 128 ] && contains "$err" "lane 'alpha' has"
check 'WT-02 one that holds is not'
run claim beta tool && run release beta tool && run owner tool
[ "${out%% *}" = - ]
check 'WT-02 part of what was claimed is released'
run owner src2/c && contains "$out" beta
check 'WT-02 the rest stays'
run release beta src/a
[ $status -eq 1 ] && contains "$err" 'nothing of that'
check 'WT-02 nothing to release is said'
run owner --json src/a docs src2 image.bin
[ $status -eq 0 ] && says '[.owners[].lane] == ["alpha", "alpha", "beta", ""]'
check 'owner: JSON'
run owner
[ $status -eq 129 ]
check 'owner needs paths'
run claim alpha -- -dash "$(printf 'new\nline')" "$(printf '\377')" ' ' ':(glob)x' 'trail '
[ $status -eq 0 ] && run owner --json -- -dash "$(printf 'new\nline')" "$(printf '\377')" ' ' ':(glob)x' 'trail ' &&
  says '([.owners[].lane] | unique) == ["alpha"] and .owners[2].path.hex == "ff"'
check 'WT-02 C21 unusual paths'

# The hook (WT-02).
run hook -n && [ $status -eq 0 ] && [ ! -e "$repo/.git/hooks/pre-commit" ] && run hook && [ -x "$repo/.git/hooks/pre-commit" ]
check 'hook: is installed'
run hook
[ $status -eq 0 ]
check 'hook: twice is no error'
echo mine >>"$repo/src/a"
git -C "$repo" commit -q -a -m mine 2>"$scratch/err"
[ $? -eq 1 ] && grep -q "'src/a' is claimed by lane 'alpha'" "$scratch/err"
check 'WT-02 a commit on what a lane has claimed is refused'
git -C "$repo" commit -q -m part src/a 2>/dev/null
[ $? -eq 1 ]
check 'WT-02 so is one of a single path'
echo mine >>"$lanes/alpha/src/a" && git -C "$lanes/alpha" commit -q -a -m mine
check 'WT-02 in the lane itself it is allowed'
echo mine >>"$lanes/beta/src/a"
git -C "$lanes/beta" commit -q -a -m mine 2>/dev/null
[ $? -eq 1 ]
check 'WT-02 in another lane it is not'
git -C "$repo" checkout -q src/a && echo mine >>"$repo/tool" && git -C "$repo" commit -q -a -m tool
check 'WT-02 elsewhere it is'
git -C "$repo" rm -q --cached src/a && run owner --staged
[ $status -eq 1 ]
check 'WT-02 a removal counts'
git -C "$repo" reset -q && git -C "$repo" update-index --add --cacheinfo "160000,$(git -C "$repo" rev-parse HEAD),src/sub" &&
  run owner --staged --json && [ $status -eq 1 ] && says '.owners[0].path == "src/sub"'
check 'WT-02 so does a submodule'
git -C "$repo" reset -q
# What an apply has put here for the lane that claims it is that lane's commit.
git -C "$lanes/alpha" -c core.hooksPath=/dev/null checkout -q --detach HEAD~1 && run release beta && create hooked --claim src2 --claim image.bin && echo applied >"$lane/src2/c" && rm "$lane/image.bin" && take hooked && run apply hooked
[ $status -eq 0 ] && run owner --staged && [ $status -eq 0 ] && [ -z "$err" ]
check 'WT-02 what was applied for a lane is not refused for its own claim'
echo other >"$repo/src2/c" && git -C "$repo" add src2/c && run owner --staged
[ $status -eq 1 ] && contains "$err" "'src2/c' is claimed by lane 'hooked'" && ! contains "$err" image.bin
check 'WT-02 but what was changed since is'
echo applied >"$repo/src2/c" && git -C "$repo" add src2/c && git -C "$repo" commit -q -m applied
check 'WT-02 and the hook lets it be committed'
git -C "$repo" -c core.hooksPath=/dev/null commit -q --allow-empty -m x
echo other >"$repo/.git/hooks/pre-commit"
run hook
[ $status -eq 1 ] && contains "$err" 'a hook already' && [ "$(cat "$repo/.git/hooks/pre-commit")" = other ]
check 'hook: one of the user stays'

# Intents.
run intent --reason 'rename the parser' alpha docs
[ $status -eq 0 ] && run intent --kind symbol --reason why alpha Parser::Next && run intent alpha &&
  says '[.intents[].kind] | sort == ["path", "symbol"]'
check 'WT-02 intents'
run intent --kind symbol --reason too beta Parser::Next
[ $status -eq 0 ] && contains "$err" "lane 'alpha' means to work on 'Parser::Next'"
check 'WT-02 the same intent of two lanes is said'
run intent --kind bogus --reason x alpha y
[ $status -eq 129 ]
check 'WT-02 a kind that is none'
run intent alpha x
[ $status -eq 129 ] && contains "$err" --reason
check 'WT-02 an intent has a reason'

# Remove, restore, gc, repair (WT-07, C31).
refused() {
  run remove "$1"
  [ $status -eq 1 ] && contains "$err" "$2" && contains "$err" --discard && [ -d "$lanes/$1" ]
}
fresh
create alpha --claim src
echo x >>"$lane/src/a"
refused alpha "'src/a' was changed"
check 'WT-07 C31 a change is not removed'
git -C "$lane" checkout -q src/a && echo new >"$lane/new"
refused alpha "'new' was changed"
check 'WT-07 C31 nor an untracked file'
git -C "$lane" add new && git -C "$lane" commit -q -m new
refused alpha "not applied"
check 'WT-07 C31 nor a commit'
git -C "$lane" checkout -q --detach && git -C "$lane" branch -q -f maco/alpha HEAD~1 && git -C "$lane" rm -q new &&
  git -C "$lane" commit -q -m gone
refused alpha 'in no other branch'
check 'WT-07 C31 nor a commit on a detached HEAD whose tree is the base'
git -C "$lane" checkout -q maco/alpha && git -C "$lane" commit -q --allow-empty -m own
refused alpha 'in no other branch'
check 'WT-07 C31 nor a commit on its branch'
git -C "$repo" branch kept maco/alpha
run remove -n alpha
[ $status -eq 0 ] && contains "$out" 'would move' && [ -d "$lane" ]
check 'remove: a dry run'
run remove alpha
[ $status -eq 0 ] && [ ! -e "$lane" ] && run owner src && [ "${out%% *}" = - ]
check 'WT-07 what is in another branch may go, and its claims with it'
run claim alpha src
[ $status -eq 128 ] && contains "$err" removed
check 'WT-02 a removed lane claims nothing'
run capture alpha
[ $status -eq 128 ] && contains "$err" restore
check 'and is not captured'
create alpha
[ $status -eq 128 ] && contains "$err" restore
check 'its name is taken until it is gone'
run restore alpha
[ $status -eq 0 ] && [ -d "$lane" ] && git -C "$lane" status >/dev/null
check 'WT-07 it is restored'
run restore alpha
[ $status -eq 1 ]
check 'once'
echo work >"$lane/work" && run remove --discard alpha
[ $status -eq 0 ] && run restore alpha && [ "$(cat "$lane/work")" = work ]
check 'WT-07 even what was discarded is there until gc'
run remove --discard alpha && run gc
[ $status -eq 0 ] && [ -z "$out" ] && run restore alpha && [ $status -eq 0 ]
check 'WT-07 gc leaves what was removed lately'
run remove --discard alpha
until_gone() { run gc -n --max-age 1; contains "$out" "would delete $1"; }
until until_gone alpha; do :; done
[ -e "$repo/.git/maco/lanes" ] && run gc --json --max-age 1 && says '.lanes[0].name == "alpha"' &&
  [ -z "$(ls -A "$lanes/.removed")" ] && [ -z "$(ls -A "$repo/.git/maco/lanes")" ] && git -C "$repo" rev-parse -q --verify kept >/dev/null
check 'WT-07 gc deletes for good'
run list
[ -z "$out$err" ] && [ "$(git -C "$repo" worktree list | wc -l)" = 1 ]
check 'and nothing is left'
create alpha && git -C "$lane" commit -q --allow-empty -m own && run remove --discard alpha
until until_gone alpha; do :; done
run gc --max-age 1
[ $status -eq 0 ] && contains "$err" 'stays' && git -C "$repo" rev-parse -q --verify maco/alpha >/dev/null
check 'WT-07 a branch with commits of its own stays'
for what in branch detached stash packed index-only; do
  create private-$what --private
  case $what in
  branch) git -C "$lane" checkout -q -b other && git -C "$lane" commit -q --allow-empty -m own && git -C "$lane" checkout -q maco/private-$what ;;
  detached) git -C "$lane" checkout -q --detach && git -C "$lane" commit -q --allow-empty -m own ;;
  stash) echo x >>"$lane/src/a" && git -C "$lane" stash -q ;;
  packed) git -C "$lane" branch other && git -C "$lane" pack-refs --all ;;
  index-only) git -C "$lane" tag mark ;;
  esac
  refused private-$what 'commits of its own'
  check "WT-07 WT-09 a private lane with work in its repository: $what"
done
for kind in '' --private; do
  # shellcheck disable=SC2086
  create staged $kind && echo staged >"$lane/src/a" && git -C "$lane" add src/a && git -C "$lane" show HEAD:src/a >"$lane/src/a" && [ -z "$(git -C "$lane" diff HEAD)" ]
  refused staged "'src/a' is staged in its index"
  check "WT-07 what is only staged is not removed ${kind:-linked}"
  git -C "$lane" reset -q && run remove -n staged
  [ $status -eq 0 ]
  check 'WT-07 and is none any more after a reset'
  index=$(git -C "$lane" rev-parse --path-format=absolute --git-path index) && rm "$index" && mkfifo "$index"
  refused staged 'its index is no file'
  check 'WT-07 an index that is no file is not waited for'
  rm "$index" && echo nonsense >"$index"
  refused staged 'its index cannot be read'
  check 'WT-07 nor is one that cannot be read taken for an empty one'
  rm "$index" && run remove --discard staged
  until until_gone staged; do :; done
  run gc --max-age 1
done
create hiding && printf '*\n' >"$lane/src/.gitignore" && echo work >"$lane/src/work"
refused hiding "'src/.gitignore' is left out by ignore rules"
check 'WT-07 work that new ignore rules hide is not removed'
rm "$lane/src/.gitignore" "$lane/src/work" && echo x >"$lane/local.env" && run remove -n hiding
[ $status -eq 0 ]
check 'WT-07 what the rules of the base leave out may go'
create clean --private && run remove clean && [ $status -eq 0 ]
check 'WT-07 a private lane without goes'

# By hand.
create moved && mv "$lane" "$scratch/hand"
run capture moved
[ $status -eq 128 ] && contains "$err" 'is gone' && contains "$err" --discard
check 'WT-07 a lane that was moved by hand'
run list
[ $status -eq 0 ] && contains "$err" 'is gone'
check 'list says so'
mkdir "$lane" && echo mine >"$lane/mine"
run remove --discard moved
[ $status -eq 0 ] && [ -e "$lane/mine" ] && [ -e "$scratch/hand/src/a" ]
check 'WT-07 a directory in its place is not touched'
rm -r "$lane"
create deleted && rm -r "$lane"
run remove deleted
[ $status -eq 128 ] && contains "$err" 'is gone'
check 'WT-07 a lane that was deleted by hand'
python3 - "$repo/.git/maco/lanes/$(lane_id deleted)/lease" "$scratch/held2" "$scratch/free2" <<'P' &
import fcntl, os, struct, sys
fd = os.open(sys.argv[1], os.O_RDWR)
fcntl.fcntl(fd, 37, struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 0, 0, 0))  # F_OFD_SETLK
os.mkfifo(sys.argv[3])
open(sys.argv[2], "w").close()
open(sys.argv[3]).read()
P
until [ -e "$scratch/held2" ]; do :; done
run remove --discard deleted
[ $status -eq 128 ] && contains "$err" 'in use'
check 'WT-07 in use it is not forgotten'
echo >"$scratch/free2"
wait
run remove --discard deleted
[ $status -eq 0 ] && create deleted && [ $status -eq 0 ]
check 'is forgotten, and its name is free'
git -C "$repo" worktree add -q --detach "$lanes/stranger"
run list --json
says '.strangers | length == 1'
check 'WT-07 a worktree among the lanes that is none is said'
run repair
[ -e "$lanes/stranger/src/a" ]
check 'and left alone'
run repair no-such
[ $status -eq 128 ]
check 'repair of what is not there'

finish

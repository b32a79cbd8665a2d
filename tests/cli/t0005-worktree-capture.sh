#!/bin/sh
# git maco worktree: capture, show, accept, reject, check: what a candidate holds and what taints.
# Contract: git-maco-worktree(1), docs/formats/lane.md. Needs MACO_BIN, jq, python3.
# shellcheck disable=SC2119,SC2181
set -u
# shellcheck source=tests/cli/t0005-functions.inc
. "$(dirname "$0")/t0005-functions.inc"

# tainted NAME TEXT: whether a capture refuses, names it and taints the lane.
tainted() {
  run capture "$1"
  [ $status -eq 1 ] && contains "$err" "$2" && contains "$err" 'is tainted' && run list && contains "$out" tainted
}
# mend NAME: takes the taint off.
mend() { run repair --untaint mended "$1"; }
# reset_lane
reset_lane() {
  find "$lane" \( -type p -o -type s \) -delete
  rm -rf "$lane/d"
  git -C "$lane" reset -q --hard && git -C "$lane" clean -qfdx && mend "$name"
}
# captured: the paths of the candidate with their status, one line each.
captured() { run show --json "$name" && printf %s "$out" | jq -r '.changes[] | "\(.status) \(.path)"'; }

fresh
create alpha --claim .
run capture alpha
[ $status -eq 1 ] && contains "$err" 'no change'
check 'WT-03 nothing to capture'
run show alpha
[ $status -eq 128 ] && contains "$err" 'no candidate'
check 'and nothing to show'
echo more >>"$lane/src/a"
rm "$lane/src/b"
echo new >"$lane/src/new"
chmod -x "$lane/tool"
ln -sfn src/new "$lane/link"
ln -s ../src "$lane/docs/way"
rm "$lane/docs/d" && ln -s ../tool "$lane/docs/d"
printf '\000\001\003' >"$lane/image.bin"
run capture -n alpha
[ $status -eq 0 ] && contains "$out" 'would capture 8' && run show alpha && [ $status -eq 128 ]
check 'capture: a dry run'
run capture alpha
[ $status -eq 0 ] && [ ${#out} -eq 32 ]
check 'WT-03 capture prints the id of a candidate'
id=$out
files=$repo/.git/maco/lanes/$(lane_id alpha)
[ "$(stat -c '%a %h' "$files/$id.json")" = '600 1' ] && [ "$(stat -c '%a %h' "$files/$id.patch")" = '600 1' ] &&
  [ "$(stat -c %a "$files/patch")" = 600 ]
check 'WT-06 the leaves are private, and the next one is reserved'
run show --stat alpha
[ $status -eq 0 ] && contains "$out" unread && run show --stat --json alpha && says '.state == "unread"'
check 'WT-04 show --stat is not reading'
run accept alpha
[ $status -eq 1 ] && contains "$err" 'not read'
check 'WT-04 what was not read is not accepted'
run reject --reason no alpha
[ $status -eq 1 ] && contains "$err" 'not read'
check 'WT-04 nor rejected'
(cd "$repo" && "$MACO_BIN/git-maco" worktree show alpha >/dev/full 2>/dev/null)
[ $? -eq 128 ] && run show --stat --json alpha && says '.state == "unread"'
check 'WT-04 what could not be printed was not read'
[ "$(captured | tr '\n' ,)" = 'T docs/d,A docs/way,M image.bin,M link,M src/a,D src/b,A src/new,M tool,' ]
check 'WT-03 C37a A, M, D, T, modes, links and binaries'
run show --json alpha
says '.patch | contains("GIT binary patch") and contains("+more")'
check 'WT-04 the patch is in the JSON that counts as reading'
says '[.changes[] | select(.path == "tool")][0] | .old_mode == "100755" and .new_mode == "100644" and .old_oid == .new_oid'
check 'WT-03 a change of mode'
says "(.base == \"$(git -C "$repo" rev-parse HEAD)\") and ([.changes[] | select(.path == \"src/a\")][0].old_oid == \"$(git -C "$repo" rev-parse HEAD:src/a)\")"
check 'WT-03 base and blobs of the base'
git -C "$repo" cat-file -e "$(git hash-object "$lane/src/new")" 2>/dev/null
[ $? -ne 0 ] && [ -z "$(git -C "$repo" status --porcelain)" ]
check 'WT-03 the repository has nothing of it'
run show --stat --json alpha
says '.state == "read"'
check 'WT-04 show marks it read'
run capture alpha
[ "$out" = "$id" ] && run show --stat --json alpha && says '.state == "read"'
check 'WT-03 captured again it is the same candidate, with its decision'
tree=$(printf %s "$out" | jq -r .tree)
run capture --rehash --json alpha
[ $status -eq 0 ] && says ".tree == \"$tree\" and .candidate == \"$id\""
check 'WT-03 with --rehash too'
(cd "$lane" && git add -A && git commit -q -m inside)
run capture --json alpha
[ $status -eq 0 ] && says ".tree == \"$tree\""
check 'WT-03 WT-09 a commit in the lane changes nothing'
run check alpha
[ $status -eq 0 ] && contains "$out" 'exactly that'
check 'WT-05 check: the lane holds that'
echo even >>"$lane/src/new" && run check alpha
[ $status -eq 1 ] && contains "$err" 'does not hold'
check 'WT-05 check: a lane that was changed since'
echo new >"$lane/src/new" && run check --candidate 0000 alpha
[ $status -eq 1 ] && contains "$err" "not 0000"
check 'WT-05 check: another candidate'
run check --json --candidate "$id" alpha
[ $status -eq 0 ] && says '.same_tree'
check 'WT-05 check: JSON'

# Decisions (WT-04, WT-08).
run accept alpha
[ $status -eq 1 ] && contains "$err" 'no run wrote it' && contains "$err" --unverified
check 'WT-08 what no run proves is not accepted'
run accept -n --unverified 'I made it' alpha
[ $status -eq 0 ] && run show --stat --json alpha && says '.state == "read"'
check 'accept: a dry run'
run accept --unverified 'I made it' --note fine alpha
[ $status -eq 0 ] && run show --stat --json alpha && says '.state == "accepted" and .unverified == "I made it" and .note == "fine"'
check 'WT-08 but on the word of the operator, which is kept'
run reject --reason no alpha
[ $status -eq 1 ] && contains "$err" 'accepted already'
check 'WT-04 an accepted one is not rejected'
run show alpha && run show --stat --json alpha && says '.state == "accepted"'
check 'WT-04 nor unread again'
echo third >>"$lane/src/a" && run capture alpha && run show alpha && run reject
[ $status -eq 129 ]
check 'WT-04 reject has a reason'
run reject --reason "$(printf 'bad\377')" alpha
[ $status -eq 0 ] && run accept --unverified x alpha
[ $status -eq 1 ] && contains "$err" 'rejected already'
check 'WT-04 a rejected one is not accepted'
(cd "$repo" && "$MACO_BIN/git-maco" journal verify store/lanes) >/dev/null
check 'WT-04 the journal of the decisions verifies'

# One byte changed (WT-05).
echo fourth >>"$lane/src/a" && take alpha
for leaf in json patch; do
  cp "$files/$id.$leaf" "$scratch/leaf"
  python3 -c 'import sys; d = bytearray(open(sys.argv[1], "rb").read()); d[len(d) // 2] ^= 1; open(sys.argv[1], "wb").write(d)' "$files/$id.$leaf"
  for verb in show check apply 'accept --unverified x' 'reject --reason x'; do
    # shellcheck disable=SC2086
    run $verb alpha
    [ $status -eq 128 ] && contains "$err" 'was changed' && contains "$err" 'capture it again'
    check "WT-05 a changed $leaf: $verb"
  done
  cp "$scratch/leaf" "$files/$id.$leaf"
done
ln "$files/$id.patch" "$scratch/second" && run show alpha
[ $status -eq 128 ]
check 'WT-06 a leaf with a second name'
rm "$scratch/second"
chmod 644 "$files/$id.json" && run show alpha
[ $status -eq 128 ]
check 'WT-06 a leaf that others can read'
chmod 600 "$files/$id.json"
rm "$files/patch" && echo fifth >>"$lane/src/a" && run capture alpha
[ $status -eq 0 ]
check 'WT-06 a leaf that a crash left out is made again'

# Names of paths (C21).
fresh
create alpha
for path in 'a b' "$(printf 'new\nline')" "$(printf 'tab\there')" 'quo"te' "quo'te" "$(printf 'x\377')" -dash ':(glob)x' ':!x' 'trail ' '*' '[a]' 'a\b' '~'; do
  echo content >"$lane/$path"
done
run capture alpha
[ $status -eq 0 ] && run show --json alpha && says '.changes | length == 14' && says '[.changes[].path] | index(":(glob)x") and index("trail ") and index("-dash") and index("new\nline")'
check 'C21 unusual names are captured'
says '[.changes[].path | objects | .hex] == ["78ff"]'
check 'C21 a name that is no UTF-8'
run accept --unverified x alpha && run apply --commit alpha
[ $status -eq 0 ] && [ -z "$(git -C "$repo" status --porcelain)" ] && [ "$(git -C "$repo" ls-files -z | tr -cd '\000' | wc -c)" = 22 ]
check 'C21 and applied'

# What taints (WT-03).
fresh
create alpha
mkfifo "$lane/pipe"
tainted alpha "'pipe' is a FIFO"
check 'WT-03 a FIFO'
rm "$lane/pipe" && echo x >>"$lane/src/a" && run capture alpha && run show alpha && run accept --unverified x alpha
[ $status -eq 1 ] && contains "$err" 'is tainted'
check 'WT-03 nothing of a tainted lane is accepted'
run capture alpha
[ $status -eq 0 ] && contains "$err" "still tainted: 'pipe' is a FIFO" && run capture --json alpha && says '.tainted == "'"'pipe' is a FIFO"'"'
check 'WT-03 and a capture says that it still is'
run show alpha
mend alpha
[ $status -eq 0 ] && run accept --unverified x alpha && [ $status -eq 0 ]
check 'WT-03 until somebody says that it was mended'
mend alpha
[ $status -eq 1 ]
check 'WT-03 which is said once'
python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$lane/socket"
tainted alpha "'socket' is a socket" && run apply alpha
[ $status -eq 1 ] && contains "$err" tainted
check 'WT-03 a socket, and the accepted candidate is not applied'
reset_lane
i=0
while [ $i -lt 150 ]; do mkfifo "$lane/pipe$i"; i=$((i + 1)); done
tainted alpha 'is a FIFO'
check 'WT-03 very many of them'
reset_lane
python3 - "$lane" <<'P'
import os, sys
os.chdir(sys.argv[1])
for _ in range(300):
    os.mkdir("d")
    os.chdir("d")
open("deep", "w").close()
P
tainted alpha 'deeper than'
check 'WT-03 nested very deep'
reset_lane
for target in /etc/passwd ../outside src/../../x .git/config docs/../src/a "$(printf '../\377')"; do
  ln -sfn "$target" "$lane/bad"
  tainted alpha "'bad' is a symbolic link that leads out"
  check "WT-03 C38 a link that leads out: $(printf %s "$target" | tr -d '\377')"
  run capture --json alpha
  [ $status -eq 1 ] && says '.findings[0].path == "bad"'
  check 'and in JSON'
  reset_lane
done
ln -sfn ../../outside "$lane/link"
tainted alpha "'link' is a symbolic link that leads out"
check 'WT-03 C38 a link that is repointed'
reset_lane
git init -q "$lane/vendor/sub" && echo x >"$lane/vendor/sub/x"
tainted alpha "'vendor/sub/.git' makes its directory a repository"
check 'WT-03 C23 a nested repository'
reset_lane
rm -rf "$lane/vendor"
for spelling in .GIT git~1 '.git ' .git.; do
  reset_lane && mkdir "$lane/$spelling"
  tainted alpha "'$spelling' is another spelling of '.git'"
  check "WT-03 C38 '$spelling'"
  rmdir "$lane/$spelling"
done
for spelling in "$(printf '.g\342\200\214it')" ".git::\$INDEX_ALLOCATION"; do
  reset_lane && mkdir "$lane/sub" && echo x >"$lane/sub/$spelling"
  tainted alpha 'invalid path'
  check "WT-03 C38 what git takes for no path: $spelling"
done
reset_lane && printf '[submodule "x"]\n\tpath = x\n\turl = ext::sh\n' >"$lane/.gitmodules"
tainted alpha "'.gitmodules' changes a submodule"
check 'WT-03 .gitmodules'
reset_lane && git -C "$lane" update-index --add --cacheinfo "160000,$(git -C "$lane" rev-parse HEAD),sub" && echo x >"$lane/README" && echo x >"$lane/readme"
tainted alpha 'case of letters only'
check 'WT-03 C37g case twins'
reset_lane && mkdir "$lane/SRC" && echo x >"$lane/SRC/x"
tainted alpha "differs from 'src'"
check 'WT-03 C37g a directory that is a case twin'
reset_lane && mv "$lane/tool" "$lane/Tool" && run capture alpha
[ $status -eq 0 ]
check 'C37g a rename of the case alone is none'
reset_lane && truncate -s $((64 * 1024 * 1024 + 1)) "$lane/large"
tainted alpha "'large' has more than 64 MiB"
check 'WT-03 C37b a large file'
reset_lane && head -c 70000000 /dev/urandom >"$scratch/random" && split -n 2 "$scratch/random" "$lane/half" && run capture alpha
[ $status -eq 128 ] && contains "$err" 'larger than 64 MiB' && [ "$(stat -c %s "$repo/.git/maco/lanes/$(lane_id alpha)/patch")" -eq 0 ]
check 'WT-03 C37b a large patch'
rm "$lane"/half*
run claim alpha src && run capture alpha
[ $status -eq 1 ] && contains "$err" 'no change'
check 'nothing is left of it'
echo x >>"$lane/docs/d"
tainted alpha "'docs/d' lies outside of what the lane has claimed"
check 'WT-03 an edit outside of the claims'
reset_lane && echo x >>"$lane/src/a" && run capture alpha
[ $status -eq 0 ]
check 'WT-03 one inside'
reset_lane && run release alpha && create beta --claim docs && name=alpha lane=$lanes/alpha && echo x >>"$lane/docs/d"
tainted alpha "'docs/d' is claimed by lane 'beta'"
check "WT-03 an edit in another lane's claim"

# A link behind one of the base that leads out; a submodule of the base.
fresh
ln -s ../outside "$repo/out" && git -C "$repo" update-index --add --cacheinfo "160000,$(git -C "$repo" rev-parse HEAD),sub" && git -C "$repo" add out && git -C "$repo" commit -q -m out
create alpha
run capture alpha
[ $status -eq 1 ] && contains "$err" 'no change'
check 'a submodule that is not there is no change'
ln -s out/secret "$lane/through"
tainted alpha "'through' is a symbolic link that leads out"
check 'WT-03 C38 a link through another one that leads out'
reset_lane && echo work >"$lane/sub/work"
tainted alpha "'sub' is a submodule"
check 'WT-03 files in the place of a submodule'
refused_remove() { run remove alpha; [ $status -eq 1 ] && contains "$err" sub; }
refused_remove
check 'WT-07 are not removed'
rm "$lane/sub/work"
rmdir "$lane/sub"
tainted alpha "'sub' changes a submodule"
check 'WT-03 a submodule that is taken away'

# Ways to hide an edit (section E).
hidden() { run capture "$name" && [ $status -eq 0 ] && captured | grep -qx "$1"; }
fresh
create alpha
git -C "$lane" update-index --assume-unchanged src/a && echo x >>"$lane/src/a" && [ -z "$(git -C "$lane" status --porcelain)" ] && hidden 'M src/a'
check 'E assume-unchanged'
git -C "$lane" update-index --no-assume-unchanged src/a && git -C "$lane" update-index --skip-worktree src/a && [ -z "$(git -C "$lane" status --porcelain)" ] && hidden 'M src/a'
check 'E skip-worktree'
git -C "$lane" update-index --no-skip-worktree src/a && git -C "$lane" checkout -q src/a
git -C "$repo" config core.trustctime false && git -C "$repo" config core.checkStat minimal
create beta
echo A >"$scratch/same" && touch -r "$lane/src/a" "$scratch/time" && cat "$scratch/same" >"$lane/src/a" && touch -r "$scratch/time" "$lane/src/a" && hidden 'M src/a'
check 'E the same size and time, with core.checkStat=minimal'
git -C "$repo" replace "$(git -C "$repo" rev-parse HEAD:src/b)" "$(echo B | git -C "$repo" hash-object -w --stdin)" && echo B >"$lane/src/b" && hidden 'M src/b'
check 'E a replaced blob'
create gamma && [ "$(cat "$lane/src/b")" = b ]
check 'E a replaced blob is not checked out'
git -C "$repo" replace -d "$(git -C "$repo" rev-parse HEAD:src/b)" >/dev/null
echo '*' >>"$repo/.git/info/exclude" && git -C "$repo" config core.excludesFile "$scratch/same" && echo x >"$lane/new" && [ -z "$(git -C "$lane" status --porcelain)" ] && hidden 'A new'
check "E '*' in info/exclude"
git -C "$repo" config core.fileMode false && chmod +x "$lane/docs/d" && [ -z "$(git -C "$lane" status --porcelain)" ] && hidden 'M docs/d'
check 'E core.fileMode=false'
git -C "$repo" config status.showUntrackedFiles no && hidden 'A new'
check 'E status.showUntrackedFiles=no'
echo '* -diff' >"$repo/.git/info/attributes" && echo '*.bin diff=x' >"$lane/.gitattributes" && echo 'a -diff' >>"$lane/.gitattributes" && echo visible >>"$lane/src/a" && hidden 'M src/a' && run show gamma && contains "$out" '+visible' && contains "$out" "risk: '.gitattributes': attributes"
check 'E the -diff attribute'
echo '*' >"$lane/.gitignore" && echo x >"$lane/unseen" && run capture gamma && run show gamma && contains "$out" "risk: '.gitignore'" && contains "$out" "not part of it, the first is '.gitattributes'"
check 'E ignore rules in the lane are shown, and what they hide'

# What becomes something else, and what is left out.
fresh
create alpha
rm "$lane/src/a" && mkdir "$lane/src/a" && echo x >"$lane/src/a/x" && rm -rf "$lane/src2" && echo file >"$lane/src2" && rm -rf "$lane/docs" && ln -s src "$lane/docs"
run capture alpha
[ $status -eq 0 ] && [ "$(captured | tr '\n' ,)" = 'A docs,D docs/d,D src/a,A src/a/x,A src2,D src2/c,' ]
check 'WT-03 a file becomes a directory, a directory a file or a link'
run accept --unverified x alpha && run apply --commit alpha
[ $status -eq 0 ] && [ -z "$(git -C "$repo" status --porcelain)" ] && [ "$(readlink "$repo/docs")" = src ]
check 'and is applied'
fresh
create alpha
rm -rf "$lane/docs" && ln -s src "$lane/docs" && mkdir -p "$lane/out/deep" "$lane/some" && echo x >"$lane/out/deep/x" && echo x >"$lane/some/x.env" && echo x >"$lane/some/y" && echo x >"$lane/src/keep.env" &&
  printf '*.env\n!keep.env\n/out/\ndocs\n' >"$lane/.gitignore" && rm "$lane/src/b" && : >"$lane/some/.gitignore"
run capture alpha
[ $status -eq 0 ] && [ "$(captured | tr '\n' ,)" = 'M .gitignore,D docs/d,A some/.gitignore,A some/y,D src/b,A src/keep.env,' ] && run show --stat --json alpha && says '.ignored == ["docs", "out/", "some/x.env"]'
check 'WT-03 what ignore rules leave out is named: files, links, directories as a whole'
touch "$lane/tool" "$lane/image.bin" && cp -p "$lane/src/a" "$lane/copy" && mv "$lane/copy" "$lane/src/a" && run capture alpha && run show --json alpha && says '[.changes[].path] | index("src/a") == null and index("tool") == null'
check 'WT-03 other times and inodes alone are no change'

# Line ends (C37f).
for auto in true input false; do
  fresh
  git -C "$repo" config core.autocrlf $auto
  printf 'a\r\nb\r\n' >"$repo/crlf" && printf 'a\nb\n' >"$repo/lf" && printf 'a\r\nb\n' >"$repo/mixed"
  git -C "$repo" add -A 2>/dev/null && git -C "$repo" commit -q -m ends
  create alpha
  run capture alpha
  [ $status -eq 1 ] && contains "$err" 'no change' && [ -z "$(git -C "$lane" status --porcelain)" ]
  check "C37f a fresh lane has no change, autocrlf=$auto"
  echo c >>"$lane/lf" && echo '* text=auto' >"$lane/.gitattributes" && take alpha && run apply --commit alpha
  [ $status -eq 0 ] && [ "$(git -C "$repo" rev-parse 'HEAD^{tree}')" = "$(run show --stat --json alpha && printf %s "$out" | jq -r .tree)" ]
  check "C37f attributes in the same candidate, autocrlf=$auto"
done

finish

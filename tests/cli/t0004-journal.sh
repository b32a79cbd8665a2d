#!/bin/sh
# git maco journal: list, show, verify, repair, resolve, resume, checkpoint, rebind, rekey, anchor.
# Contract: git-maco-journal(1). Needs MACO_BIN, the directory of the built programs, jq, python3.
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
  if [ "$r" != ok ]; then printf '# status %s\n# out %s\n# err %s\n' "$status" "$out" "$err"; fi
}
# run ARGS...: output in $out, messages in $err, status in $status; in $repo.
run() {
  out=$(cd "$repo" && "$MACO_BIN/git-maco" journal "$@" 2>"$scratch/err")
  status=$?
  err=$(cat "$scratch/err")
}
contains() { case $1 in *"$2"*) return 0 ;; esac; return 1; }
# says FILTER: whether it holds for the document in $out.
says() { printf %s "$out" | jq -e "$1" >/dev/null; }
make() { (cd "$repo" && "$MACO_BIN/support/state_fixture" "$state" "$@"); }
# fresh: a new repository with a commit and maco state in $repo, $state.
fresh() {
  repo=$scratch/repo$((fresh_count = ${fresh_count:-0} + 1))
  git init -q "$repo"
  git -C "$repo" -c user.name=n -c user.email=e commit -q --allow-empty -m first
  echo text >"$repo/file"
  (cd "$repo" && "$MACO_BIN/git-maco" init -q) >/dev/null
  state=$repo/.git
}
# poke FILE OFFSET: turns over the bits of one byte; a negative offset counts from the end.
poke() {
  python3 - "$1" "$2" <<'P'
import sys
path, at = sys.argv[1], int(sys.argv[2])
data = bytearray(open(path, "rb").read())
data[at] ^= 0xFF
open(path, "wb").write(data)
P
}
# log_of ID
log_of() { echo "$state/maco/runs/$1/run.log"; }
end_of() { python3 -c 'import sys; d = open(sys.argv[1], "rb").read(); print(len(d.rstrip(b"\0")))' "$1"; }
finished='run_planned command_started command_completed'

fresh
run
[ $status -eq 129 ] && contains "$err" 'no command given'
check 'without a command it is a usage error'
run bogus
[ $status -eq 129 ] && contains "$err" "unknown command 'bogus'"
check 'an unknown command is a usage error'
run list --note x
[ $status -eq 129 ] && contains "$err" "'list' takes no --note"
check 'an option of another command is a usage error'
run list --bogus
[ $status -eq 129 ] && contains "$err" "unknown option '--bogus'"
check 'an unknown option is a usage error'
run resolve --happened x
[ $status -eq 129 ] && contains "$err" '--note'
check 'resolve needs a note'
run resolve --happened --did-not-happen --note n x
[ $status -eq 129 ]
check 'resolve needs one outcome'

run list --json
[ $status -eq 0 ] && says '.schema == "maco.journal-list/1" and .journals == []'
check 'a fresh repository has no journals'
run verify
[ $status -eq 0 ] && contains "$out" '0 journals, 0 records verified, 0 bad' &&
  contains "$out" 'not checked: '
check 'and verifies, and says what was not checked'

# shellcheck disable=SC2086 # several words
a=$(make run $finished)
u=$(make run run_planned command_started)
run list -z
[ $status -eq 0 ] &&
  [ "$( (cd "$repo" && "$MACO_BIN/git-maco" journal list -z) | tr '\0' '\n')" = \
    "$(printf '%s\n' "run/$a" "run/$u" | sort)" ]
check 'list -z names every journal'
run show "$a"
[ $status -eq 0 ] && contains "$out" command_completed && contains "$out" 'exit_status=0'
check 'show prints the records of a run'
run show --ndjson "$(printf %.8s "$a")"
[ $status -eq 0 ] && [ "$(printf '%s\n' "$out" | wc -l)" -eq 3 ] &&
  [ "$(printf '%s\n' "$out" | jq -r .record.event | tr '\n' ' ')" = "$finished " ]
check 'show --ndjson takes a prefix and prints one document a line'
run show nothing
[ $status -eq 128 ] && contains "$err" "there is no journal 'nothing'"
check 'a journal that is not there is named'
run verify --json
[ $status -eq 0 ] && says '.ok and (.journals | length) == 2 and (.not_checked | length) > 0'
check 'verify --json'
run export
[ $status -eq 0 ] && printf '%s\n' "$out" | jq -es 'map(select(.evidence)) | length == 2' >/dev/null
check 'export has records and evidence'
run export --output "$scratch/exported" "$a" && [ $status -eq 0 ] && [ "$(wc -l <"$scratch/exported")" -eq 4 ] &&
  [ "$(stat -c %a "$scratch/exported")" = 600 ]
check 'export into a file that only its owner reads'
run export --output "$scratch/exported"
[ $status -eq 128 ] && contains "$err" exists
check 'export does not overwrite'

# JRN-02: what is not as it was written is found and named; one bad run is no other run's problem.
damage() { # WORD NAME: $log holds damage now
  run verify
  [ $status -eq 1 ] && contains "$out" "$1" && contains "$out" 'fix: '
  check "$2"
}
fresh
# shellcheck disable=SC2086
good=$(make run $finished)
# shellcheck disable=SC2086
bad=$(make run $finished)
log=$(log_of "$bad")
cp "$log" "$scratch/saved"
poke "$log" 12400
damage changed 'a changed record'
run verify "$good"
[ $status -eq 0 ]
check 'the other run verifies'
run show "$bad"
[ $status -eq 128 ] && contains "$err" 'does not verify'
check 'a changed journal is not shown as if it were well'
cp "$scratch/saved" "$log"
poke "$log" 100
damage damaged 'a changed header'
cp "$scratch/saved" "$log"
head -c 12300 "$scratch/saved" >"$log"
damage truncated 'a truncated log'
cp "$scratch/saved" "$log"
cat "$(log_of "$good")" >"$log"
damage damaged 'the journal of another run'
fresh2=$repo
fresh
other=$(make run run_planned)
cp "$(log_of "$other")" "$log"
repo=$fresh2 state=$fresh2/.git
damage damaged 'a journal of another repository'
rm "$log" && mkfifo -m 600 "$log"
damage damaged 'a FIFO in place of a journal'
rm "$log" && ln -s "$scratch/saved" "$log"
damage damaged 'a symbolic link in place of a journal'
rm "$log" && cp "$scratch/saved" "$log" && ln "$log" "$scratch/hard"
damage damaged 'a journal with another name'
rm "$scratch/hard" && chmod 644 "$log"
damage damaged 'a journal that others can read'
chmod 600 "$log" && rm "$log"
damage damaged 'a journal that is gone'
cp "$scratch/saved" "$log" && chmod 600 "$log"
run verify
[ $status -eq 0 ]
check 'with the journal back all is well again'
cp "$state/maco/runs/$good/trusted/evidence.json" "$scratch/evidence"
sed -i 's/run/nur/' "$state/maco/runs/$good/trusted/evidence.json"
damage no-evidence 'changed evidence'
cp "$scratch/evidence" "$state/maco/runs/$good/trusted/evidence.json"
echo x >"$state/maco/runs/stray"
run verify
[ $status -eq 1 ] && contains "$out" 'not a journal, and not ours: maco/runs/stray'
check 'a foreign file in the state root is named'
rm "$state/maco/runs/stray"

# Torn tail, damaged head: cut or rewritten on request only, and what was cut is kept.
end=$(end_of "$log")
printf garbage | dd of="$log" bs=1 seek=$((end + 32)) conv=notrunc 2>/dev/null
damage torn-tail 'a torn tail'
run repair --rewrite-head "$bad"
[ $status -eq 128 ] && contains "$err" 'cut short'
check 'a torn tail is not cut without the word'
run repair -n --cut-torn-tail "$bad"
[ $status -eq 0 ] && contains "$out" 'would be cut' && [ ! -e "$state/maco/cut" ]
check 'a dry run says what would be cut'
run verify
[ $status -eq 1 ]
check 'and changes nothing'
run repair --cut-torn-tail --json "$bad"
kept=$(printf %s "$out" | jq -r .kept_as)
[ $status -eq 0 ] && says '.cut_bytes > 0' && grep -q garbage "$state/maco/$kept" &&
  [ "$(stat -c %a "$state/maco/$kept")" = 600 ]
check 'the cut bytes are kept'
run verify
[ $status -eq 0 ]
check 'the repaired journal verifies'
run show audit/0
[ $status -eq 0 ] && contains "$out" repaired
check 'the repair is on the audit journal'
poke "$log" 4100
damage damaged-head 'a damaged head slot is a verdict'
run show "$bad"
[ $status -eq 128 ] && contains "$err" repair
check 'it is not rolled forward silently'
run repair --rewrite-head "$bad"
[ $status -eq 0 ] && contains "$out" 'written anew'
check 'its head is made anew on request'
run verify
[ $status -eq 0 ]
check 'and verifies'
run repair --cut-torn-tail --rewrite-head "$bad"
[ $status -eq 0 ] && contains "$out" 'nothing to repair'
check 'repairing what is well changes nothing'

# JRN-04: an uncertain run is resolved by an operator, once, in its own chain.
fresh
u=$(make run run_planned command_started)
# shellcheck disable=SC2086
done_run=$(make run $finished)
run resolve --happened --note 'seen in the log' -n "$u"
[ $status -eq 0 ] && contains "$out" 'would record'
check 'resolve: a dry run'
run resolve --happened --note 'seen in the log' "$u"
[ $status -eq 0 ]
check 'resolve: an uncertain run'
run show "$u"
contains "$out" run_resolved && contains "$out" 'note=seen in the log'
check 'the word is in the chain of the run'
run resolve --did-not-happen --note again "$u"
[ $status -eq 128 ] && contains "$err" 'resolved already'
check 'it is resolved once'
run resolve --happened --note x "$done_run"
[ $status -eq 128 ] && contains "$err" certain
check 'a run whose end is proven needs no word'
(cd "$repo" && "$MACO_BIN/git-maco" status >/dev/null)
[ $? -eq 0 ]
check 'a resolved run needs no attention any more'

# JRN-05, JRN-06, JRN-07: steps, resume, checkpoints.
# shellcheck disable=SC2086
make step rel build 0 $finished >/dev/null
run resume rel
[ $status -eq 0 ] && contains "$out" 'it is not done again'
check 'a step that is done and holds'
mkdir -m 700 "$scratch/cp"
run checkpoint --output "$scratch/cp/rel" rel
[ $status -eq 0 ] && [ "$(stat -c %a "$scratch/cp/rel")" = 600 ]
check 'a checkpoint is written'
make step rel test 0 run_planned command_started >/dev/null
run resume --json rel
[ $status -eq 1 ] && says '.ready == false and .steps[0].holds and .steps[1].state == "uncertain"'
check 'an uncertain step stops the run and names the command'
run resolve --happened --note n rel test
[ $status -eq 0 ]
check 'a step is resolved by its name'
run resume --checkpoint "$scratch/cp/rel"
[ $status -eq 0 ]
check 'the run is resumed from its checkpoint'
# shellcheck disable=SC2086
make step rel flaky 2 $finished >/dev/null
run resume rel
[ $status -eq 0 ] && contains "$out" 'failed; it is done again'
check 'a failed step is done again'
for change in content mode head index untracked; do
  case $change in
  content) echo more >>"$repo/file" ;;
  mode) chmod +x "$repo/file" ;;
  head) git -C "$repo" -c user.name=n -c user.email=e commit -q --allow-empty -m second ;;
  index) git -C "$repo" add file ;;
  untracked) mkdir "$repo/new" ;;
  esac
  run resume rel
  [ $status -eq 1 ] && contains "$out" 'not as it left it'
  check "the worktree is bound: $change"
  case $change in
  content) echo text >"$repo/file" ;;
  mode) chmod -x "$repo/file" ;;
  head) git -C "$repo" reset -q --soft HEAD~1 ;;
  index) git -C "$repo" reset -q ;;
  untracked) rmdir "$repo/new" ;;
  esac
done
run resume rel
[ $status -eq 0 ]
check 'put back, it holds again'
run resume no-such
[ $status -eq 128 ] && contains "$err" "no run with steps named 'no-such'"
check 'a run without steps is named'
poke "$scratch/cp/rel" 40
run checkpoint --check "$scratch/cp/rel"
[ $status -eq 128 ]
check 'a changed checkpoint is refused'
for version in 1 2; do
  echo "{\"version\":$version,\"run\":\"rel\",\"plan\":\"x\"}" >"$scratch/cp/old"
  chmod 600 "$scratch/cp/old"
  run resume --checkpoint "$scratch/cp/old"
  [ $status -eq 128 ] && contains "$err" "version $version cannot be resumed"
  check "checkpoints of version $version are refused"
done
chmod 755 "$scratch/cp"
run checkpoint --output "$scratch/cp/x" rel
[ $status -eq 128 ] && contains "$err" 'mkdir -m 700' && [ ! -e "$scratch/cp/x" ]
check 'a directory that others can enter is refused'
chmod 700 "$scratch/cp" && ln -s "$scratch/else" "$scratch/cp/link"
run checkpoint --output "$scratch/cp/link" rel
[ ! -e "$scratch/else" ] && [ $status -ne 0 ]
check 'a link is not followed'
run checkpoint --output "$scratch/cp/rel" rel
[ $status -eq 0 ]
check 'a checkpoint is replaced'
first_repo=$repo
fresh
run checkpoint --check "$scratch/cp/rel"
[ $status -eq 128 ] && contains "$err" 'another repository'
check 'a checkpoint of another repository is refused'
repo=$first_repo state=$first_repo/.git

# Rekey: the old key only verifies.
cp "$state/maco/key" "$scratch/old-key" && cp -a "$state/maco" "$scratch/epoch0"
run rekey
[ $status -eq 0 ] && contains "$out" 'epoch 1'
check 'rekey makes a new key'
[ "$(stat -c %a "$state/maco/key.0")" = 600 ] && cmp -s "$scratch/old-key" "$state/maco/key.0" &&
  ! cmp -s "$state/maco/key" "$state/maco/key.0"
check 'and keeps the old one'
run verify
[ $status -eq 0 ]
check 'journals of the old key verify'
run resume rel
[ $status -eq 0 ]
check 'and are read'
run checkpoint --check "$scratch/cp/rel"
[ $status -eq 0 ]
check 'a checkpoint of the old key verifies'
mv "$state/maco/key.0" "$scratch/key.0"
run verify
[ $status -eq 1 ] && contains "$out" key.0
check 'an epoch without its key is named'
mv "$scratch/key.0" "$state/maco/key.0"
# Someone who has the old key writes a run after its epoch was over.
mv "$state/maco" "$scratch/present" && cp -a "$scratch/epoch0" "$state/maco"
# shellcheck disable=SC2086
forged=$(make run $finished)
mv "$state/maco" "$scratch/past" && mv "$scratch/present" "$state/maco"
mv "$scratch/past/runs/$forged" "$state/maco/runs/$forged"
damage unsealed 'a run that was forged with the old key'
rm -rf "$state/maco/runs/$forged"
u=$(make run run_planned command_started)
run rekey
[ $status -eq 128 ] && contains "$err" uncertain
check 'rekey refuses while a run is uncertain'
run verify
[ $status -eq 0 ]
check 'and changes nothing'
run resolve --did-not-happen --note n "$u" && run rekey
[ $status -eq 0 ] && contains "$out" 'epoch 2'
check 'a second rekey'
run verify
[ $status -eq 0 ]
check 'after which all three epochs verify'
mv "$state/maco/seals/1.log" "$scratch/seal"
run verify
[ $status -eq 1 ] && contains "$out" seal
check 'a seal that is gone is noticed'
mv "$scratch/seal" "$state/maco/seals/1.log"

# The key: missing, replaced, of another repository.
mv "$state/maco/key" "$scratch/key"
run verify
[ $status -eq 128 ] && contains "$err" "'maco/key' is missing"
check 'a key that is gone'
other=$repo
fresh
cp "$state/maco/key" "$other/.git/maco/key"
repo=$other state=$other/.git
run verify
[ $status -eq 128 ] && contains "$err" 'does not verify with its key'
check 'a key that was replaced'
cp "$scratch/key" "$state/maco/key"

# A moved repository.
mv "$repo" "$scratch/moved" && repo=$scratch/moved state=$scratch/moved/.git
run verify
[ $status -eq 0 ] && contains "$err" rebind
check 'a moved repository can be read, and says so'
run resolve --happened --note n 0000
[ $status -eq 128 ] && contains "$err" 'git maco journal rebind'
check 'but not be written'
run rebind -n
[ $status -eq 0 ] && contains "$out" would
check 'rebind: a dry run'
run rebind
[ $status -eq 0 ]
check 'rebind'
run verify
[ $status -eq 0 ] && [ -z "$err" ]
check 'and all is well'

# JRN-09: an anchor on a remote notices a state root that was put back.
fresh
git init -q --bare "$scratch/remote.git"
git -C "$repo" remote add origin ../remote.git
# shellcheck disable=SC2086
make run $finished >/dev/null
run anchor check origin
[ $status -eq 1 ] && contains "$out" 'no anchor'
check 'without an anchor the answer is no'
mkdir -p "$state/maco/tmp/killed/objects"
run anchor push -n origin
[ ! -e "$state/maco/tmp/killed" ] && [ "$(ls -A "$state/maco/tmp")" = lock ]
check 'what a killed anchor left is removed'
run anchor push -n origin
[ $status -eq 0 ] && [ -z "$(git -C "$scratch/remote.git" for-each-ref)" ]
check 'a dry run pushes nothing'
run anchor push origin
[ $status -eq 0 ] && git -C "$scratch/remote.git" for-each-ref | grep -q refs/maco/anchor/
check 'an anchor is pushed'
run anchor check origin
[ $status -eq 0 ]
check 'and everything is there'
cp -a "$state/maco" "$scratch/back"
# shellcheck disable=SC2086
make run $finished >/dev/null
run anchor check origin
[ $status -eq 0 ]
check 'what came later does not matter'
run anchor push origin
[ $status -eq 0 ] && contains "$out" 'anchor 2'
check 'the anchor is advanced'
mv "$state/maco" "$scratch/present" && cp -a "$scratch/back" "$state/maco"
run verify
[ $status -eq 0 ]
check 'a state that was put back as a whole verifies by itself'
run anchor check origin
[ $status -eq 1 ] && contains "$out" LOST
check 'the anchor shows it'
run anchor push origin
[ $status -eq 1 ] && contains "$out" LOST
check 'and is not moved back'
rm -rf "$state/maco" && mv "$scratch/present" "$state/maco"
git -C "$scratch/remote.git" update-ref -d "$(git -C "$scratch/remote.git" for-each-ref --format='%(refname)')"
run anchor check origin
[ $status -eq 1 ] && contains "$out" 'was pushed to it'
check 'a remote that was put back is noticed too'
rm -rf "$scratch/remote.git"
run anchor check origin
[ $status -eq 128 ] && contains "$err" 'cannot ask'
check 'a remote that does not answer is an error, no answer'
run anchor check nowhere
[ $status -eq 128 ] && contains "$err" "no remote 'nowhere'"
check 'a remote that is not there is named'

# Stores: verified as wholes, archived, and over a rekey (SNAP-01, SNAP-02).
fresh
make store claims 5 4
run list
[ $status -eq 0 ] && contains "$out" store/claims/000001 && contains "$out" store/claims/000004
check 'the journals of a store are listed'
run show store/claims/000002
[ $status -eq 0 ] && contains "$out" 'generation='
check 'and shown'
run verify store/claims
[ $status -eq 0 ] && contains "$out" clean
check 'a store verifies as a whole'
out=$(cd "$repo" && "$MACO_BIN/git-maco" status --porcelain)
contains "$out" 'store claims ok 5/4096' && contains "$out" ' 3/128'
check 'status shows how full it is'
run archive -n
[ $status -eq 0 ] && contains "$out" 'would be archived' && [ -e "$state/maco/stores/claims/000001.log" ]
check 'archive: a dry run'
cp -a "$state/maco/stores/claims" "$scratch/claims"
run archive --json claims
[ $status -eq 0 ] && says '.stores[0].journals == 3' && [ ! -e "$state/maco/stores/claims/000001.log" ] &&
  [ -e "$state/maco/archive/claims-1-3.log" ]
check 'closed journals are archived'
run verify
[ $status -eq 0 ]
check 'the archive verifies'
run archive
[ $status -eq 0 ] && contains "$out" '0 closed journals'
check 'there is nothing to archive twice'
cp "$state/maco/archive/claims-1-3.log" "$scratch/segment"
poke "$state/maco/archive/claims-1-3.log" 14000
damage changed 'a changed segment'
cp "$scratch/segment" "$state/maco/archive/claims-1-3.log"
# A crash between the locator and the removal of the journals.
cp "$scratch/claims/000001.log" "$state/maco/stores/claims/"
run verify
[ $status -eq 0 ]
check 'a journal that is left beside its archive is no damage'
make store claims 1 1 && [ ! -e "$state/maco/stores/claims/000001.log" ]
check 'the next writer removes it'
make store claims 1 2
run rekey
[ $status -eq 0 ]
check 'rekey with stores'
run verify
[ $status -eq 0 ]
check 'stores verify after a rekey'
run show --json store/claims/000006
[ $status -eq 0 ] && says '.records | length > 0'
check 'and have a journal of the new key'
make store claims 2 1
run archive && run verify
[ $status -eq 0 ] && contains "$out" ' 0 bad'
check 'journals of both keys are archived and verify'
cp "$scratch/claims/locator" "$state/maco/stores/claims/locator"
damage damaged 'an older locator that was put back'

echo "1..$count"
exit $failed

#!/bin/sh
# git maco prune: policies, what is kept and why, reports, anchors, two at once, the quarantine.
# Contract: git-maco-prune(1), docs/formats/prune.md. Needs MACO_BIN, jq, python3, faketime.
# shellcheck disable=SC2012,SC2086,SC2181
set -u
# shellcheck source=tests/cli/t0009-functions.inc
. "$(dirname "$0")/t0009-functions.inc"
day=86400

fresh
prune
[ $status -eq 128 ] && contains "$err" 'there is no policy'
check 'without a policy it is refused'
prune --keep x
[ $status -eq 129 ] && contains "$err" '--keep is a number'
check 'a number that is none is a usage error'
prune --max-age soon
[ $status -eq 129 ] && contains "$err" '--max-age is a time'
check 'a time that is none is a usage error'
prune --max-bytes much
[ $status -eq 129 ] && contains "$err" '--max-bytes is a size'
check 'a size that is none is a usage error'
prune --keep 1 --state running
[ $status -eq 129 ] && contains "$err" "'running' is no state of a finished run"
check 'a state that is none is a usage error'
prune --bogus
[ $status -eq 129 ] && contains "$err" "unknown option '--bogus'"
check 'an unknown option is a usage error'
prune bogus
[ $status -eq 129 ] && contains "$err" "unknown command 'bogus'"
check 'an unknown command is a usage error'
prune discard
[ $status -eq 129 ] && contains "$err" 'needs the name of an entry'
check 'discard needs a name'
prune --json -z --keep 1
[ $status -eq 129 ] && prune inspect --keep 1 && [ $status -eq 129 ]
check 'options that exclude each other, or belong elsewhere'
prune --keep 1
[ $status -eq 0 ] && contains "$out" '0 runs deleted, 0 bytes'
check 'a repository without runs'
prune --keep 1 --json
[ $status -eq 0 ] && says '.schema == "maco.prune-report/1" and .runs == [] and .stuck == [] and .bytes == 0'
check 'its report'

# A policy is tried on the same runs, dry; names are in order of age, the newest first.
# 1970-01-05 was a Monday; a fixed clock makes days and weeks certain: Wednesday 2026-03-18 12:00 UTC.
fresh
at() { faketime -f '2026-03-18 12:00:00' "$@"; }
TZ=UTC
export TZ
make_at() { (cd "$repo" && at "$MACO_BIN/support/state_fixture" .git run files=3 "age=$1" ${2:-$finished}); }
r1=$(make_at 3600)                                    # Wednesday 11:00
r2=$(make_at 7200)                                    # Wednesday 10:00
r3=$(make_at $((day)))                                # Tuesday
r4=$(make_at $((day + 7200)))                         # Tuesday
r5=$(make_at $((4 * day)))                            # Saturday, the week before
r6=$(make_at $((12 * day)) "run_planned run_refused run_finalized") # Friday, two weeks before
r7=$(make_at $((13 * day)) "run_planned command_started command_unproven run_finalized")
all="$r1 $r2 $r3 $r4 $r5 $r6 $r7"
dry() { # EXPECTED OPTION...: whether that is what a dry run would delete
  expected=$(printf '%s\n' $1 | sed '/^$/d' | sort)
  shift
  before=$(listing "$repo")
  out=$(cd "$repo" && at "$MACO_BIN/git-maco" prune -n -z "$@" 2>"$scratch/err" | tr '\0' '\n' | sort)
  err=$(cat "$scratch/err")
  [ "$out" = "$expected" ] && [ "$(listing "$repo")" = "$before" ]
}
dry "$all" --keep 0
check 'keep 0: all'
dry "$r3 $r4 $r5 $r6 $r7" --keep 2
check 'keep 2'
dry "" --keep 100
check 'keep more than there are'
dry "$r2 $r4 $r5 $r6 $r7" --keep-daily 2
check 'daily: the newest of each of the last days that have any'
dry "$r2 $r4 $r7" --keep-daily 4
check 'daily: days without runs do not count'
dry "$r2 $r3 $r4 $r6 $r7" --keep-weekly 2
check 'weekly: weeks begin on Mondays'
dry "$r2 $r3 $r4 $r7" --keep-weekly 3
check 'weekly: as many as there are'
dry "$r2 $r4 $r7" --keep 1 --keep-daily 2 --keep-weekly 3
check 'rules that keep add up'
dry "$r6 $r7" --max-age 5d
check 'max-age'
dry "$r7" --max-age 5d --state unproven
check 'max-age of one state'
dry "$r5 $r7" --max-age 3d --keep 0 --state completed,unproven
check 'max-age of two states'
dry "$r7" --max-age 5d --keep 6
check 'what a rule keeps is not too old'
size=$(cd "$repo" && at "$MACO_BIN/git-maco" prune -n --json --keep 0 | jq .bytes)
each=$(cd "$repo" && at "$MACO_BIN/git-maco" prune -n --json --keep 0 | jq "[.runs[] | select(.run == \"$r7\")][0].bytes")
dry "" --max-bytes "$size"
check 'max-bytes: together they are as large'
dry "$r7" --max-bytes $((size - 1))
check 'max-bytes: the oldest'
dry "$r6 $r7" --max-bytes $((size - each - 1))
check 'max-bytes: and the next'
dry "$all" --max-bytes 0
check 'max-bytes 0: all'
dry "" --max-bytes $((each)) --state unproven
check 'max-bytes: only runs with such an outcome are counted'
dry "$r1 $r2 $r3 $r4 $r5" --state completed --keep 0
check 'state completed'
dry "$r6" --state refused --keep 0
check 'state refused'
dry "" --state abandoned --keep 0
check 'state abandoned: none'
prune -n --json --keep 1
says '.dry_run and (.runs | length) == 7 and ([.runs[] | select(.deleted)] | length) == 6' &&
  says ".bytes == ([.runs[] | select(.deleted) | .bytes] | add)" &&
  [ "$(reason "$r1")" = 'one of the newest 1' ] && [ "$(reason "$r7")" = 'no rule keeps it' ] &&
  says ".runs | all(.files == 5 and .bytes > 3072)"
check 'the report tells reason, outcome, files and bytes of each'

# A clock that is wrong.
before=$(listing "$repo")
out=$(cd "$repo" && faketime -f '2020-01-01 00:00:00' "$MACO_BIN/git-maco" prune --max-age 1 -z | tr '\0' '\n')
[ -z "$out" ] && there $all
check 'C49 a clock that went back: nothing is too old'
out=$(cd "$repo" && faketime -f '2036-01-01 00:00:00' "$MACO_BIN/git-maco" prune --max-age 5d --keep 5 -n -z | tr '\0' '\n' | sort)
[ "$out" = "$(printf '%s\n' $r6 $r7 | sort)" ]
check 'a clock that went far ahead: what a rule keeps is kept'

# Settings of protected scopes are the policy if the command line has none.
git config --global maco.prune.keep 5
dry "$r6 $r7"
check 'a policy of the global configuration'
git config --global maco.prune.state refused
dry ""
check 'and its states'
dry "$r6" --max-age 1d
check 'rules of the command line replace those, but not the states'
dry "$r7" --max-age 5d --state unproven
check 'states of the command line replace those'
git config --global --unset maco.prune.state
for pair in 'keepDaily 4' 'keepWeekly 3' 'maxAge 5d' "maxBytes $((size - each - 1))" 'state refused'; do
  git config --global "maco.prune.${pair% *}" "${pair#* }"
done
dry "" && prune -n && [ $status -eq 0 ]
check 'all settings are known'
git config --global --remove-section maco.prune
git -C "$repo" config maco.prune.keep 0
prune -n
[ $status -eq 128 ] && contains "$err" 'maco.prune.keep' && contains "$err" 'does not count' &&
  contains "$err" 'there is no policy'
check "the repository's own settings do not count, and that is said"
git -C "$repo" config --remove-section maco.prune
git config --global maco.prune.keep many
prune -n
[ $status -eq 128 ] && contains "$err" "maco.prune.keep is 'many'"
check 'a setting that is wrong is named'
git config --global --remove-section maco.prune

# What is deleted is what was told; nothing else changes.
before=$(outside)
told=$(cd "$repo" && at "$MACO_BIN/git-maco" prune --keep 2 -n -z | sha256sum)
did=$(cd "$repo" && at "$MACO_BIN/git-maco" prune --keep 2 -z | sha256sum)
[ "$told" = "$did" ] && there "$r1" "$r2" && [ -z "$(ls "$quarantine")" ] && [ "$(outside)" = "$before" ]
check 'a prune deletes exactly what its dry run told'
maco journal verify
[ $status -eq 0 ]
check 'what is left verifies'
maco journal show prune/0
[ $status -eq 0 ] && [ "$(printf '%s\n' "$out" | grep -c prune_begun)" -eq 5 ] &&
  [ "$(printf '%s\n' "$out" | grep -c prune_ended)" -eq 5 ]
check 'each deletion is on record'
told=$(cd "$repo" && at "$MACO_BIN/git-maco" prune --keep 2 -z)
[ -z "$told" ] && there "$r1" "$r2"
check 'the next prune has nothing to do'

# Kept whatever the policy says, with the reason.
fresh
plain=$(aged 10)
uncertain=$(fixture run run_planned command_started)
kept "$uncertain" uncertain && ! [ -d "$runs/$plain" ]
check 'an uncertain run is kept, another is not'
unfinal=$(fixture run run_planned command_started command_completed)
kept "$unfinal" 'it has no final record'
check 'so is one without a final record'
planned=$(fixture run run_planned)
kept "$planned" 'it has no final record'
check 'one that was only planned'
mkdir -m 0700 "$runs/0123456789abcdef0123456789abcdef"
kept 0123456789abcdef0123456789abcdef 'it has no final record'
check 'C47 one that was just created'
live=$(aged 10)
out=$(cd "$repo" && held "$runs/$live/run.log" "$MACO_BIN/git-maco" prune --keep 0 --json)
[ -d "$runs/$live" ] && [ "$(reason "$live")" = 'it is going on' ]
check 'C47 one whose writer holds its journal'
prune --keep 0 -z && ! [ -d "$runs/$live" ]
check 'and when it is over it goes'
later=$(fixture run files=2 $finished command_started)
kept "$later" uncertain
check 'a final record that is not the last one'
damaged=$(aged 10)
python3 - "$runs/$damaged/run.log" <<'P'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[12400] ^= 255
open(sys.argv[1], "r+b").write(data)
P
kept "$damaged" damaged
check 'a damaged journal'
mkdir "$runs/stray" && kept stray damaged
check 'what is no run'
rm -r "$runs/stray" "$runs/$damaged" "$runs/0123456789abcdef0123456789abcdef"

# changed WORDS COMMAND: a run that COMMAND, in its directory, has changed is kept; verify names it.
changed() {
  victim=$(aged 10)
  (cd "$runs/$victim" && eval "$2") >/dev/null
  kept "$victim" 'does not verify' && contains "$(reason "$victim")" "$1" &&
    maco journal verify "run/$victim" && [ $status -eq 1 ] && contains "$out$err" 'final record' &&
    contains "$out$err" "$1"
  r=$?
  chmod -R u+rwx "$runs/$victim"
  rm -r "${runs:?}/$victim"
  return $r
}
changed "'trusted/d0/f1'" 'printf y >>trusted/d0/f1'
check 'PRN-03 a file that is longer'
changed "'trusted/d0/f1'" 'printf y | dd of=trusted/d0/f1 conv=notrunc status=none'
check 'a file of the same length with another content'
changed "'trusted/d0/new', which is new" 'umask 077; echo x >trusted/d0/new'
check 'a file that was added'
changed "'trusted/zz/new', which is new" 'umask 077; mkdir trusted/zz; echo x >trusted/zz/new'
check 'a file that was added after all others'
changed "'trusted/d0/f1', which is gone" 'rm trusted/d0/f1'
check 'a file that was removed'
changed "'trusted/d0/f2', which is gone" 'rm trusted/d0/f2'
check 'the last file that was removed'
changed "'trusted/d0/f1', which is gone" 'mv trusted/d0/f1 trusted/d0/f9'
check 'a file that was renamed'
changed 'not private' 'chmod 0644 trusted/d0/f1'
check 'a file that others may read'
changed 'not private' 'chmod 0755 trusted/d0'
check 'a directory that others may read'
changed 'is no plain file' 'ln -s f1 trusted/d0/link'
check 'a symbolic link that was added'
changed 'is no plain file' 'mv trusted/d0/f1 ../../f1; ln -s ../../../../f1 trusted/d0/f1'
check 'a file that became a symbolic link to itself'
rm -f "$runs/../f1"
changed 'is no plain file' 'mv trusted/d0 ../../d0; ln -s ../../../d0 trusted/d0'
check 'a directory that became a symbolic link to itself'
rm -rf "$runs/../d0"
echo sentinel >"$scratch/sentinel" && chmod 600 "$scratch/sentinel"
changed 'has another name' "ln '$scratch/sentinel' trusted/d0/hard"
check 'C50 a hard link to a file outside'
changed 'has another name' "ln trusted/d0/f1 '$scratch/outside'"
check 'a file that has another name outside'
rm -f "$scratch/outside"
changed 'is no plain file' 'mkfifo -m 600 trusted/d0/fifo'
check 'a FIFO'
changed 'is no plain file' 'python3 -c "import socket; socket.socket(socket.AF_UNIX).bind(\"trusted/s\")"'
check 'a socket'
changed 'regular file' 'ln -s / .tmp-x'
check 'a link with the name of a temporary file'
changed "regular file" 'umask 077; mkdir .tmp-x; echo x >.tmp-x/y'
check 'a directory with the name of a temporary file'
changed 'another file than its writer had' 'cp run.log copy && mv copy run.log'
check 'rebound: its journal was copied and put back'
changed 'another file than its writer had' 'cd .. && cp -a "$victim" copy && rm -r "$victim" && mv copy "$victim"'
check 'rebound: the whole run was copied and put back'
[ "$(cat "$scratch/sentinel")" = sentinel ]
check 'the file outside is as it was'
moved=$(aged 10)
mv "$runs/$moved" "$scratch/away" && mv "$scratch/away" "$runs/$moved" && prune --keep 0 -z &&
  [ $status -eq 0 ] && ! [ -e "$runs/$moved" ]
check 'one that was moved away and back is the same'
umask 077
left=$(aged 10)
echo half >"$runs/$left/trusted/.tmp-0123" && prune --keep 0 -z && [ $status -eq 0 ] && ! [ -e "$runs/$left" ]
check 'half a document that a crash left is no difference'
umask 022
closed=$(aged 10)
chmod 0500 "$runs/$closed/trusted/d0" "$runs/$closed/trusted" "$runs/$closed"
prune --keep 0 -z
[ $status -eq 0 ] && ! [ -e "$runs/$closed" ]
check 'directories that may not be written are no obstacle'

# Lanes and steps.
fresh
step=$(fixture step release build 0 $finished)
kept "$step" "step 'release build' rests on it"
check 'a run that a step rests on'
(cd "$repo" && "$MACO_BIN/git-maco" worktree create one) >/dev/null 2>&1
lane=$(cd "$repo" && "$MACO_BIN/git-maco" worktree list --json | jq -r '.lanes[0].id')
writer=$(aged 10)
fixture row lanes "writer/$lane/$writer" \
  "{\"v\":1,\"run\":\"$writer\",\"lane_id\":\"$lane\",\"candidate\":\"\",\"time_us\":1}"
kept "$writer" "lane 'one' rests on it"
check 'a run that wrote a lane'
other=$(aged 10)
prune --keep 0 -z
[ $status -eq 0 ] && there "$step" "$writer" && ! [ -e "$runs/$other" ] && [ -d "$repo.lanes/one" ]
check 'others go, the lane stays'

# An abandoned run is resolved first.
fresh
given_up=$(fixture run files=2 run_planned command_started)
prune --keep 0 && [ -d "$runs/$given_up" ] && maco journal resolve --abandoned --note gone "$given_up" &&
  [ $status -eq 0 ] && maco journal verify && [ $status -eq 0 ]
check 'resolve --abandoned makes a final record'
prune --keep 0 --state completed,unproven,refused -z
[ -d "$runs/$given_up" ] && prune --keep 0 --state abandoned -n --json &&
  says '.runs[0].outcome == "abandoned" and .runs[0].deleted' && prune --keep 0 --state abandoned &&
  [ $status -eq 0 ] && there ''
check 'and then it is pruned, by its state'

# PRN-03: what came with a copy of the repository verifies and is kept, until somebody gives it up.
fresh
copied=$(aged 10)
cp -a "$repo" "$scratch/copy"
original=$repo
in_copy() { repo=$scratch/copy runs=$scratch/copy/.git/maco/runs && cd "$repo" || return 1; }
in_copy && maco journal rebind && [ $status -eq 0 ] && maco journal verify && [ $status -eq 0 ]
check 'a copied run verifies after a rebind'
prune --keep 0 -n && [ $status -eq 0 ] && [ -d "$runs/$copied" ] && contains "$out" 'it is a copy' &&
  contains "$out" 'resolve --abandoned'
check 'it is kept as a copy'
printf x >>"$runs/$copied/trusted/d0/f1"
maco journal verify
[ $status -eq 1 ] && contains "$out" 'is not as the final record says'
check 'a change of a copied run is noticed'
maco journal resolve --abandoned --note copy "$copied"
[ $status -ne 0 ] && contains "$err" 'is not as the final record says'
check 'and it cannot be given up'
truncate -s -1 "$runs/$copied/trusted/d0/f1"
maco journal resolve --abandoned --note copy "$copied" && [ $status -eq 0 ] && maco journal verify &&
  [ $status -eq 0 ] && prune --keep 0 && [ $status -eq 0 ] && ! [ -e "$runs/$copied" ]
check 'given up, a copied run is pruned'
repo=$original runs=$original/.git/maco/runs
cd "$repo" || exit 1

# Anchors: a run that was pruned is no loss, one that was removed by hand is.
fresh
git init -q --bare "$scratch/anchors.git"
git -C "$repo" remote add safe "$scratch/anchors.git"
a=$(aged 30)
b=$(aged 20)
c=$(aged 10)
maco journal anchor push safe && [ $status -eq 0 ] && prune --keep 2 && [ $status -eq 0 ] && there "$b" "$c" &&
  ! [ -d "$runs/$a" ] && maco journal anchor check safe && [ $status -eq 0 ]
check 'an anchor has lost nothing by a prune'
rm -r "${runs:?}/$b"
maco journal anchor check safe
[ $status -eq 1 ] && contains "$out$err" "$b"
check 'but by a removal by hand it has'

# Rekeyed, and rebound as a whole.
fresh
a=$(aged 20)
maco journal rekey && [ $status -eq 0 ] && b=$(aged 10) && prune --keep 1 && [ $status -eq 0 ] && there "$b"
check 'a run of an older key is pruned'
maco journal rekey && prune --keep 0 && [ $status -eq 0 ] && there '' && maco journal verify && [ $status -eq 0 ]
check 'the prune log goes on after a new key'

# Two pruners; a lock file that was replaced.
fresh
a=$(aged 10)
prune --keep 5
out=$(cd "$repo" && held .git/maco/prune.lock "$MACO_BIN/git-maco" prune --keep 0 2>&1)
[ $? -eq 128 ] && contains "$out" 'another prune of this repository is going on' && there "$a"
check 'a second prune says that one is going on'
out=$(cd "$repo" && held .git/maco/prune.lock "$MACO_BIN/git-maco" prune -n -z --keep 0 | tr '\0' '\n')
[ "$out" = "$a" ]
check 'a dry run needs no lock'
# shellcheck disable=SC2016
out=$(cd "$repo" && held .git/maco/prune.lock sh -c 'rm .git/maco/prune.lock && exec "$0" prune --keep 0 -z' \
  "$MACO_BIN/git-maco" | tr '\0' '\n')
[ "$out" = "$a" ] && there ''
check 'a lock file that somebody removed protects nobody, and each run has its own lock'
ids=$(for i in 1 2 3 4 5 6; do aged 10; done)
for i in 1 2 3; do
  (cd "$repo" && rm -f .git/maco/prune.lock && "$MACO_BIN/git-maco" prune --keep 0 -z >"$scratch/pruner$i" 2>/dev/null) &
done
wait
prune --keep 0
out=$(cat "$scratch"/pruner[123] | tr '\0' '\n' | sort)
[ $status -eq 0 ] && there '' && [ -z "$(ls "$quarantine")" ] &&
  [ "$(printf '%s\n' "$out" | sed '/^$/d' | uniq -d)" = '' ] && maco journal verify && [ $status -eq 0 ]
check 'three that stepped over the lock: none deletes what another one does'
rm "$scratch"/pruner[123]
: "$ids"
ln -sf "$scratch/sentinel" "$repo/.git/maco/prune.lock"
prune --keep 0
[ $status -eq 128 ] && [ "$(cat "$scratch/sentinel")" = sentinel ]
check 'a lock file that is a link is refused'
rm "$repo/.git/maco/prune.lock"

# The quarantine. stick COMMAND: a run that stays there, for what COMMAND did to it in its directory.
fresh
point=1
stick() {
  victim=$(aged 10)
  inode=$(stat -c %i "$runs/$victim")
  entry=$victim.$inode
  # Killed after its move: the next prune finds what COMMAND made of it.
  while ! [ -d "$quarantine/$entry" ] && [ -d "$runs/$victim" ]; do
    (cd "$repo" && "$MACO_BIN/crash/kill-at" kill $point "$scratch/report" "$MACO_BIN/maco-prune" --keep 0) \
      >/dev/null 2>&1
    point=$((point + 1))
  done
  point=$((point - 5))
  (cd "$quarantine/$entry" && eval "$1") >/dev/null
}
prune inspect
[ $status -eq 0 ] && [ -z "$out" ]
check 'nothing is in the quarantine'
prune discard nothing
[ $status -eq 128 ] && contains "$err" quarantine
check 'discard names what is not there'
stick true
prune inspect
[ $status -eq 0 ] && contains "$out" "$entry: the next prune goes on with it"
check 'a run whose deletion was cut short'
prune restore -n "$entry" && [ $status -eq 0 ] && [ -d "$quarantine/$entry" ] &&
  prune restore "$entry" && [ $status -eq 0 ] && there "$victim" && maco journal verify && [ $status -eq 0 ]
check 'restore gives it back whole'
prune --keep 0 -n -z
[ "$(cd "$repo" && "$MACO_BIN/git-maco" prune --keep 0 -z | tr '\0' '\n')" = "$victim" ] && there ''
check 'and it can be pruned again'
stick 'rm trusted/d0/f1'
prune restore "$entry"
[ $status -eq 128 ] && contains "$err" 'f1' && contains "$err" 'is gone already' && [ -d "$quarantine/$entry" ]
check 'restore refuses a run of which something is gone'
prune restore -n "$entry"
[ $status -eq 128 ]
check 'and so does its dry run'
prune --keep 0 && [ $status -eq 0 ] && [ -z "$(ls "$quarantine")" ]
check 'the next prune completes it'
stick 'rm run.log'
prune restore "$entry"
[ $status -eq 128 ] && contains "$err" 'git maco prune discard' && prune --keep 0 && [ $status -eq 0 ] &&
  [ -z "$(ls "$quarantine")" ]
check 'nor without its journal'

stuck() { # WORDS COMMAND: the entry stays, is reported, and keeps nothing else
  stick "$2"
  next=$(aged 10)
  prune --keep 0 --json
  [ $status -eq 1 ] && says ".stuck | any(contains(\"$entry\"))" && contains "$err" 'stuck in the quarantine' &&
    ! [ -e "$runs/$next" ] && [ -d "$quarantine/$entry" ] &&
    prune --keep 0 -n && [ $status -eq 1 ] || return 1
  prune inspect
  [ $status -eq 1 ] && contains "$out" "$entry: stuck: " && contains "$out" "$1" &&
    prune inspect --json "$entry" && says ".entries[0].run == \"$victim\" and .entries[0].stuck != \"\""
}
gone() { # NAME: discards it
  prune discard -n "$1" && [ $status -eq 0 ] && [ -e "$quarantine/$1" ] || [ -L "$quarantine/$1" ] || return 1
  prune discard "$1"
  [ $status -eq 0 ] && ! [ -e "$quarantine/$1" ] && ! [ -L "$quarantine/$1" ]
}
mkdir "$scratch/dir" && echo sentinel >"$scratch/dir/sentinel"
before=$(outside)
stuck 'no plain file' "ln -s '$scratch/dir' trusted/link" && gone "$entry"
check 'C50 a link to a directory outside: stuck, then discarded'
stuck 'another name' "ln '$scratch/dir/sentinel' trusted/hard" && gone "$entry"
check 'a hard link'
stuck 'no plain file' 'mkfifo trusted/fifo' && gone "$entry"
check 'a FIFO'
stuck 'no plain file' 'python3 -c "import socket; socket.socket(socket.AF_UNIX).bind(\"s\")"' && gone "$entry"
check 'a socket'
if [ "$(id -u)" -eq 0 ] && mknod "$scratch/dir/null" c 1 3 2>/dev/null; then
  rm "$scratch/dir/null"
  stuck 'no plain file' 'mknod null c 1 3' && gone "$entry"
  check 'a device'
else
  skip 'a device' 'mknod is not permitted'
fi
[ "$(outside)" = "$before" ]
check 'nothing outside changed'

# Names that are not ours, or say what is not so.
stick true
mkdir "$quarantine/foreign" "$quarantine/a+b" "$quarantine/$entry+junk" "$quarantine/$victim.1"
echo file >"$quarantine/file"
ln -s "$scratch/dir" "$quarantine/link"
next=$(aged 10)
prune --keep 0 --json
[ $status -eq 1 ] && says '(.stuck | length) == 6' && there '' && ! [ -e "$quarantine/$entry" ] && : "$next" &&
  [ "$(ls "$quarantine" | wc -l)" -eq 6 ]
check 'entries that are not ours stay, are reported, and block nothing'
for name in foreign a+b "$entry+junk" file link "$victim.1"; do gone "$name" || break; done
[ -z "$(ls "$quarantine")" ] && [ "$(cat "$scratch/dir/sentinel")" = sentinel ]
check 'each can be discarded'
stick true
mv "$quarantine/$entry" "$quarantine/x" && cp -r "$quarantine/x" "$quarantine/$entry"
prune --keep 0
[ $status -eq 1 ] && contains "$err" 'not the directory that was put here' && gone "$entry" && gone x
check 'another directory with its name'
stick true
mkdir "$quarantine/$entry+1"
prune --keep 0
[ $status -eq 1 ] && contains "$err" 'another directory' && gone "$entry+1" || { prune discard "$entry" && [ $status -eq 0 ]; }
[ -z "$(ls "$quarantine")" ]
check 'a part that is not one of it'
finish

#!/bin/sh
# git maco prune, killed before and after each call that touches state, and under failing calls: what is left is
# whole or on record, the next prune completes, what is retained verifies (PRN-02, PRN-03).
# Every fifth point; MACO_CRASH_EVERY=1 tries them all. Needs MACO_BIN with crash/kill-at, python3.
# shellcheck disable=SC2012,SC2086,SC2181
set -u
# Memory: what is lost here is processes, not power.
[ -w /dev/shm ] && [ -z "${TMPDIR:-}" ] && TMPDIR=/dev/shm && export TMPDIR
# shellcheck source=tests/cli/t0009-functions.inc
. "$(dirname "$0")/t0009-functions.inc"
[ -x "$MACO_BIN/crash/kill-at" ] || { echo '1..0 # SKIP there is no kill-at in this build'; exit 0; }
every=${MACO_CRASH_EVERY:-5}

fresh
kept=$(aged 0)
prune --max-age 1h && [ $status -eq 0 ] && there "$kept"
check 'undisturbed'

# settled ID: it is where it was and whole, or on record as deleted.
settled() {
  if [ -d "$runs/$1" ]; then
    (cd "$repo" && "$MACO_BIN/git-maco" journal verify "run/$1") >/dev/null
  else
    printf %s "$records" | grep -q "prune_begun.*$1"
  fi
}
# one ACTION POINT: 0 if all is well; 3 if there is no such point.
one() {
  a=$(aged 7200)
  b=$(aged 7300 run_planned run_refused run_finalized)
  (cd "$repo" && "$MACO_BIN/crash/kill-at" "$1" "$2" "$scratch/report" "$MACO_BIN/maco-prune" --max-age 1h) \
    >/dev/null 2>"$scratch/err"
  r=$?
  err=$(cat "$scratch/err")
  [ $r -eq 0 ] || [ $r -eq 3 ] || return 1
  maco journal show prune/0
  records=$out
  settled "$a" && settled "$b" && settled "$kept" || return 1
  case $(cat "$scratch/report") in
  # Done, but for what could not be verified: that is kept where it is.
  *', status 0') [ -z "$(ls "$quarantine")" ] || return 1 ;;
  esac
  prune --max-age 1h
  # Half of a record, or of a head, is for a person to judge, as in any journal.
  repair=''
  case $1,$status,$err in
  cut,128,*'repair --cut-torn-tail prune/0'* | full,128,*'repair --cut-torn-tail prune/0'*) repair=--cut-torn-tail ;;
  cut,128,*'two heads is damaged'* | full,128,*'two heads is damaged'*) repair=--rewrite-head ;;
  esac
  if [ "$repair" ]; then
    maco journal repair $repair prune/0
    [ $status -eq 0 ] || return 1
    prune --max-age 1h
  fi
  [ $status -eq 0 ] && there "$kept" && [ -z "$(ls "$quarantine")" ] || return 1
  maco journal verify
  [ $status -eq 0 ] || return 1
  return $r
}
before=$(outside)
for action in kill cut full enospc eio; do
  point=1
  bad=0
  tried=0
  while :; do
    one $action $point
    case $? in
    0) tried=$((tried + 1)) ;;
    3) break ;;
    *)
      bad=$((bad + 1))
      tried=$((tried + 1))
      echo "# $action, point $point: $(cat "$scratch/report"): status $status, $err"
      prune --max-age 1h
      ;;
    esac
    [ $bad -lt 5 ] || break
    point=$((point + every))
  done
  case $action in kill) least=200 ;; cut | full) least=4 ;; *) least=50 ;; esac
  echo "# $action: $tried points"
  [ $bad -eq 0 ] && [ $((tried * every)) -ge $least ]
  check "$action: at each of $tried points all is well afterwards"
done
[ "$(outside)" = "$before" ]
check 'nothing outside changed'

# The prune log cannot be written: no run is moved.
a=$(aged 7200)
log=$repo/.git/maco/prune/0.log
size=$(stat -c %s "$log")
chmod 0000 "$log"
chattr +i "$log" 2>/dev/null
prune --max-age 1h -z
r=$?
chattr -i "$log" 2>/dev/null
chmod 0600 "$log"
[ $r -eq 0 ] && [ $status -eq 128 ] && [ -d "$runs/$a" ] && [ -z "$out" ] && [ "$(stat -c %s "$log")" = "$size" ]
check 'a prune log that cannot be written leaves all runs in place, and none is told as deleted'
prune --max-age 1h
[ $status -eq 0 ] && there "$kept"
check 'and when it can, it goes on'
mv "$log" "$scratch/log" && ln -s "$scratch/log" "$log"
a=$(aged 7200)
prune --max-age 1h
[ $status -eq 128 ] && [ -d "$runs/$a" ]
check 'a prune log that is a link is refused'
finish

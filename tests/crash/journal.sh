#!/bin/bash
# maco-journal killed before and after each state call, and under failing ones: whatever is left, the same
# command completes, nothing that was said is lost, everything verifies (JRN-02, JRN-04, SNAP-01).
# Every fifth point, since each takes many processes; MACO_CRASH_EVERY=1 tries them all.
# usage: journal.sh BIN_DIR TOOL_DIR
set -uo pipefail
export MACO_CRASH_EVERY=${MACO_CRASH_EVERY:-5}
# shellcheck source=tests/crash/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"
tools=$(readlink -e "${2:?the directory of git-maco}") || exit 64
export PATH=$tools:$tools/support:$PATH HOME=/nonexistent GIT_CONFIG_NOSYSTEM=1
unset GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR

finished='run_planned command_started command_completed'
fresh="git init -q . && git -c user.name=n -c user.email=e commit -q --allow-empty -m first &&
    maco-init -q && state_fixture .git run run_planned command_started >uncertain &&
    state_fixture .git run $finished >done && state_fixture .git store claims 2 3"
# Each run is in a copy of the repository, which is another place.
at_home='maco-journal rebind'

# shellcheck disable=SC2016
said='{ [ ! -s "$SAID" ] || maco-journal show run/$(cat uncertain) | grep -q run_resolved; }'
# shellcheck disable=SC2016
resolve='maco-journal resolve --happened --note n $(cat uncertain)'
# shellcheck disable=SC2016
resolved="$said &&"' { maco-journal show run/$(cat uncertain) | grep -q run_resolved ||
    '"$resolve"'; } && maco-journal verify >/dev/null'
crash rebind kill -p "$fresh" 'maco-journal rebind' 'maco-journal rebind && maco-journal verify'
crash resolve kill -p "$fresh" -b "$at_home" "$resolve" "$resolved"
crash resolve eio -p "$fresh" -b "$at_home" "$resolve" "$resolved"

# A rekey that was cut short is completed by the next one; no run is lost on the way.
# shellcheck disable=SC2016
rekeyed='maco-journal rekey >/dev/null && maco-journal verify >/dev/null &&
    maco-journal show run/$(cat done) | grep -q command_completed && state_fixture .git store claims 1 1'
# shellcheck disable=SC2016
settled="$fresh"' && maco-journal resolve --happened --note n $(cat uncertain)'
crash rekey kill -p "$settled" -b "$at_home" "maco-journal rekey" "$rekeyed"
crash rekey eio -p "$settled" -b "$at_home" "maco-journal rekey" "$rekeyed"

archived='maco-journal archive >/dev/null && maco-journal verify >/dev/null &&
    [ -e .git/maco/archive/claims-1-2.log ] && [ ! -e .git/maco/stores/claims/000001.log ]'
crash archive kill -p "$fresh" -b "$at_home" "maco-journal archive" "$archived"

# What is cut is kept first: at no point is it nowhere.
# shellcheck disable=SC2016
torn="$fresh"' && log=.git/maco/runs/$(cat done)/run.log &&
    size=$(python3 -c "import sys; print(len(open(sys.argv[1], \"rb\").read().rstrip(b\"\\0\")))" "$log") &&
    printf garbage | dd of="$log" bs=1 seek=$((size + 40)) conv=notrunc status=none'
# shellcheck disable=SC2016
repair='maco-journal repair --cut-torn-tail $(cat done)'
# shellcheck disable=SC2016
repaired="$repair"' >/dev/null && maco-journal verify >/dev/null &&
    grep -rq garbage .git/maco/cut'
crash repair kill -p "$torn" -b "$at_home" "$repair" "$repaired"
finish

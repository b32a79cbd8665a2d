#!/bin/bash
# git maco init killed before and after each state call, and under failing ones (JRN-01): a later init
# completes, and git maco status works. usage: init.sh BIN_DIR TOOL_DIR
set -uo pipefail
# shellcheck source=tests/crash/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"
tools=$(readlink -e "${2:?the directory of git-maco}") || exit 64
export PATH=$tools:$PATH HOME=/nonexistent GIT_CONFIG_NOSYSTEM=1
unset GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR

fresh='git init -q .'
# What was printed is the id, and an id that was published stays; the next init tidies up.
# shellcheck disable=SC2016
check='id=$(maco-init -q) && [ ${#id} -eq 32 ] && { [ ! -s "$SAID" ] || [ "$(cat "$SAID")" = "$id" ]; } &&
    maco-status >/dev/null && ! ls -A .git/maco | grep -q "^\.tmp-"'

crash init kill -p "$fresh" 'maco-init -q' "$check"
crash init cut -p "$fresh" 'maco-init -q' "$check"
crash init enospc -r -p "$fresh" 'maco-init -q' "$check"
crash init eio -r -p "$fresh" 'maco-init -q' "$check"
finish

#!/bin/bash
# The log under SIGKILL before and after each state call, failing calls and short writes (JRN-02, JRN-03).
# usage: append.sh BIN_DIR. The driver is append_driver.cc, the checker check_log.cc.
set -uo pipefail
# shellcheck source=tests/crash/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

fresh='append-driver fresh'
crash fresh kill "$fresh" check-log
crash fresh cut "$fresh" 'check-log -r'
crash fresh full -r "$fresh" check-log
crash fresh enospc -r "$fresh" check-log
crash fresh eio -r "$fresh" check-log
# A short write is no failure: the driver goes on to its end.
# shellcheck disable=SC2016
crash fresh short "$fresh" 'check-log && case $POINT in *", status 0") ;; *) false ;; esac'

for state in lagging torn damaged; do
    # Making these states is not the driver's doing, so 5 records are there before it begins.
    driver="append-driver $state" prepare="prepare-log $state" check='check-log -r -b 5'
    [[ $state != lagging ]] || check='check-log -b 5'
    crash "$state" kill -p "$prepare" "$driver" "$check"
    crash "$state" cut -p "$prepare" "$driver" 'check-log -r -b 5'
    crash "$state" eio -r -p "$prepare" "$driver" "$check"
done

must_be_noticed acks-first kill 'append-driver-acks-first fresh' check-log
must_be_noticed ignores-errors eio 'append-driver-ignores-errors fresh' check-log
finish

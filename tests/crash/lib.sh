# shellcheck shell=bash
# Functions of the crash tests: where the programs are, how many points are expected, counting failures.
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
crash_bin=$(readlink -e "${1:?the directory of the crash programs}") || exit 64
export PATH=$crash_bin:$PATH KILL_AT=$crash_bin/kill-at
outputs=$(mktemp -d)
trap 'rm -rf "$outputs"' EXIT
started=0

# Two at a time; the output of each is printed by finish, in the order of the calls.
start() { # COMMAND...
    (($(jobs -rp | wc -l) < 2)) || wait -n
    started=$((started + 1))
    { "$@" || touch "$outputs/failed"; } >"$outputs/$started" 2>&1 &
}

run_case() { # NAME ACTION [OPTION]... DRIVER CHECKER
    local least
    least=$(sed -n "s/^$1 $2 //p" "$here/expected_points.txt")
    [[ $least ]] || { echo "# expected_points.txt has no '$1 $2'" && touch "$outputs/failed"; }
    "$here/run-crash" -n "$1" -a "$2" -l "${least:-1}" -e "${MACO_CRASH_EVERY:-1}" "${@:3}"
}
crash() { start run_case "$@"; }

# A wrong driver: the checker must notice it in at least one point. A runner that breaks notices nothing.
run_control() { # NAME ACTION [OPTION]... DRIVER CHECKER
    local out
    out=$("$here/run-crash" -s -n "$1" -a "$2" "${@:3}")
    if [[ $(tail -n 1 <<<"$out") =~ ' points, '.*' '[1-9][0-9]*' failed' ]]; then
        echo "noticed: $(tail -n 1 <<<"$out")"
    else
        echo "# not noticed: $1: $out"
        return 1
    fi
}
must_be_noticed() { start run_control "$@"; }

# Prints all outputs; fails if anything did.
finish() {
    wait
    local number
    for ((number = 1; number <= started; number++)); do cat "$outputs/$number"; done
    [[ ! -e $outputs/failed ]]
}

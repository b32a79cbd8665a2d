# Functions for guest tests: repositories, runs of maco-run with their evidence, assertions.
# Sourced by tests/vm/suite; each test function runs in a shell and a directory of its own.

bin=${MACO_BIN:?the directory of the programs under test}
export PATH=$bin:$PATH

# A repository with one commit and an initialized state root; becomes the current directory.
new_repo() { # [DIR]
    local dir=${1:-$HOME/repo}
    git init -q -b main "$dir"
    cd "$dir" || return
    git config user.name tester
    git config user.email tester@example.invalid
    echo content >file
    git add file
    git commit -q -m first
    git-maco init >/dev/null
}

# Runs maco-run; leaves status in $status, streams in out and err, the evidence in evidence.json.
run() {
    status=0
    maco-run --evidence-fd 9 "$@" >"$test_dir/out" 2>"$test_dir/err" 9>"$test_dir/evidence.json" ||
        status=$?
}

# The value at a jq path of the last run's evidence.
evidence() { jq -r "$1" "$test_dir/evidence.json"; }

fail() {
    echo "failed: $*" >&2
    echo "--- status ${status-}; stdout:" >&2
    head -c 2000 "$test_dir/out" >&2
    echo "--- stderr:" >&2
    head -c 2000 "$test_dir/err" >&2
    return 1
}

expect_status() { [[ $status == "$1" ]] || fail "status is $status, expected $1"; }
expect_out() { [[ $(cat "$test_dir/out") == "$1" ]] || fail "stdout is not '$1'"; }
expect_err() { grep -qF -- "$1" "$test_dir/err" || fail "stderr does not say '$1'"; }
expect() { # JQ-PATH VALUE
    local value
    value=$(evidence "$1")
    [[ $value == "$2" ]] || fail "evidence $1 is '$value', expected '$2'"
}
expect_publishable() { expect .publishable true && expect '.reasons | length' 0; }

# No unit, no cgroup and no process of a run is left.
expect_nothing_left() {
    local units
    units=$(systemctl --user list-units --all --plain --no-legend 'maco-run-*')
    [[ -z $units ]] || fail "units are left: $units"
    ! find /sys/fs/cgroup -type d -name 'maco-run-*' 2>/dev/null | grep -q . || fail "a cgroup is left"
    ! pgrep -x maco-guardian >/dev/null || fail "a guardian is left"
}

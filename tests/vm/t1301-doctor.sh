# git maco doctor on a host that qualifies: all good, proven by a real run, and nothing left (RUN-16).

doctor() { # leaves status in $status, the document in out, messages in err
    status=0
    git-maco doctor --json >"$test_dir/out" 2>"$test_dir/err" || status=$?
}
says() { jq -e "$1" "$test_dir/out" >/dev/null || fail "the document does not say: $1"; }
expect_no_temporary() {
    ! find /tmp "${TMPDIR:-/tmp}" -maxdepth 1 -name 'maco-doctor-*' | grep -q . || fail "a directory is left"
}

test_all_is_good() {
    doctor
    expect_status 0
    says '.schema == "maco.doctor/1" and .qualifies'
    says '[.checks[] | select(.state == "missing")] == []'
    says '[.checks[] | select(.state == "note") | .id] - ["landlock", "repository", "state", "space"] == []'
    says '.probe.verdict == "verified" and .probe.status == 0 and .probe.reasons == [] and .probe.silent == []'
    says '.probe.run | length == 32'
    [[ $(jq -r .probe.kernel "$test_dir/out") == $(uname -r) ]]
    [[ ! -s $test_dir/err ]]
    expect_nothing_left
    expect_no_temporary
}

test_people_are_told_so() {
    git-maco doctor >"$test_dir/out"
    grep -q '^ok  *user-manager  *runs for user maco (connect(2) to /run/user/1000/bus: ok' "$test_dir/out"
    grep -q '^ok  *controller-memory .*user@1000.service/cgroup.controllers = ' "$test_dir/out"
    [[ $(tail -n 1 "$test_dir/out") == 'verified runs work here' ]]
}

test_a_repository_is_looked_at() {
    new_repo
    doctor
    expect_status 0
    says '.qualifies and all(.checks[]; .state != "missing")'
    [[ ! -e .git/maco/runs ]] || fail "the probe ran in the caller's repository"
    mv .git/maco .git/away
    doctor
    expect_status 1
    says '.qualifies and [.checks[] | select(.state == "missing") | .id] == ["state"]'
}

test_without_the_environment_of_a_login() {
    status=0
    env -i PATH="$PATH" git-maco doctor --json >"$test_dir/out" || status=$?
    expect_status 0
    says '.qualifies'
    says '.checks[] | select(.id == "xdg-runtime-dir") | .state == "note" and .fix == "export XDG_RUNTIME_DIR=/run/user/1000"'
}

test_another_temporary_directory() {
    mkdir "$test_dir/tmp dir"
    TMPDIR="$test_dir/tmp dir" doctor
    expect_status 0
    says '.probe.verdict == "verified"'
    [[ -z $(ls -A "$test_dir/tmp dir") ]]
}

test_a_signal_during_the_probe() {
    export TMPDIR=$test_dir/tmp
    git-maco doctor >"$test_dir/out" 2>"$test_dir/err" &
    doctor=$!
    until pgrep -x maco-run >/dev/null; do
        kill -0 "$doctor" || fail "it ended before it ran anything"
    done
    kill -TERM "$doctor"
    status=0
    wait "$doctor" || status=$?
    expect_status 143
    [[ -z $(ls -A "$TMPDIR") ]] || fail "a directory is left"
    expect_nothing_left
}

test_a_public_runtime_directory() {
    chmod 755 "/run/user/$UID"
    doctor
    missing=$(jq -r '[.checks[] | select(.state == "missing") | .id] | join(" ")' "$test_dir/out")
    run -- true
    chmod 700 "/run/user/$UID"
    [[ $missing == user-manager ]] || fail "missing: $missing"
    expect_status 125
    expect_err "/run/user/1000' is not private"
}

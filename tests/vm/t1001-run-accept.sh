# maco-run: runs that are accepted, what they print, return and prove (RUN-01, RUN-02, RUN-11, RUN-12).

test_true_is_publishable() {
    new_repo
    run -- true
    expect_status 0
    expect_publishable
    expect .schema maco.evidence/1
    expect .requested.profile offline-read
    expect .observations.end.cgroup removed || expect .observations.end.cgroup 'populated 0'
    expect .observations.cgroup.populated 'populated 1'
    expect .outcome.target.exited 0
    expect_nothing_left
}

test_streams_and_status_pass_through() {
    new_repo
    run -- sh -c 'echo to-out; echo to-err >&2; exit 7'
    expect_status 7
    expect_out to-out
    expect_err to-err
    expect_publishable
    [[ $(cat .git/maco/runs/*/trusted/stdout.log) == to-out ]]
    [[ $(cat .git/maco/runs/*/trusted/stderr.log) == to-err ]]
}

test_death_by_signal_is_a_signal() {
    new_repo
    run -- sh -c 'kill -TERM $$'
    expect_status 143
    expect .outcome.target.signaled 15
    expect_err 'killed by SIGTERM'
    run -- sh -c 'kill -SEGV $$'
    expect_status 139
}

test_arguments_arrive_byte_for_byte() {
    new_repo
    run -- printf '[%s]' '$$' '${HOME}' '%H' '' $'a\nb' "q'\"\\" $'\377\200'
    expect_status 0
    printf '[%s]' '$$' '${HOME}' '%H' '' $'a\nb' "q'\"\\" $'\377\200' | cmp - "$test_dir/out"
}

test_environment_is_fixed_plus_what_was_named() {
    new_repo
    SECRET_THING=x PASSED=y run --env 'A=$HOME %n' --pass-env PASSED -- env
    expect_status 0
    grep -qx 'A=$HOME %n' "$test_dir/out"
    grep -qx PASSED=y "$test_dir/out"
    grep -qx HOME=/tmp/home "$test_dir/out"
    ! grep -qE 'SECRET_THING|DBUS|XDG_|INVOCATION_ID|MANAGERPID' "$test_dir/out"
    [[ $(evidence '.requested.variables | keys | join(",")') == A,PASSED ]]
}

test_input_is_copied() {
    new_repo
    echo typed >"$test_dir/input"
    status=0
    maco-run -- cat <"$test_dir/input" >"$test_dir/out" 2>"$test_dir/err" || status=$?
    expect_status 0
    expect_out typed
}

test_open_input_does_not_hang() {
    new_repo
    mkfifo "$test_dir/silent"
    sleep 600 >"$test_dir/silent" &
    maco-run -- true <"$test_dir/silent"
    kill "$!"
}

test_result_is_read_from_the_descriptor() {
    new_repo
    run --result result.txt -- sh -c 'echo answer >"$MACO_RESULT"'
    expect_status 0
    expect_publishable
    [[ $(cat result.txt) == answer ]]
    [[ $(stat -c %a result.txt) == 600 ]]
}

test_background_processes_are_ended_and_counted() {
    new_repo
    run -- sh -c 'setsid sh -c "trap : TERM; sleep 600" >/dev/null 2>&1 & sleep 600 & exit 3'
    expect_status 3
    expect_publishable
    [[ $(evidence .measurements.processes_left_behind) -ge 2 ]]
    ! pgrep -x sleep >/dev/null
    expect_nothing_left
}

test_works_without_runtime_directory_variable() {
    new_repo
    status=0
    env -u XDG_RUNTIME_DIR -u DBUS_SESSION_BUS_ADDRESS maco-run -- true || status=$?
    expect_status 0
}

test_works_over_the_private_socket() {
    new_repo
    mv "/run/user/$UID/bus" "/run/user/$UID/bus.away"
    run -- sh -c 'exit 4'
    mv "/run/user/$UID/bus.away" "/run/user/$UID/bus"
    expect_status 4
    expect_publishable
}

test_missing_command_is_127_and_unexecutable_126() {
    new_repo
    run -- no-such-command
    expect_status 127
    expect_err "cannot execute 'no-such-command'"
    run -- ./file
    expect_status 126
}

test_json_on_stdout_is_the_document_alone() {
    new_repo
    maco-run --json -- echo hidden >"$test_dir/out"
    [[ $(jq -r .schema "$test_dir/out") == maco.evidence/1 ]]
    [[ $(wc -l <"$test_dir/out") == 1 ]]
    [[ $(cat .git/maco/runs/*/trusted/stdout.log) == hidden ]]
}

# RUN-10: maco.run.*; the repository's own configuration only lowers.
test_limits_from_configuration() {
    new_repo
    git config --global maco.run.tasks 600
    run -- true
    expect '.observations.cgroup.files["pids.max"]' 600
    git config maco.run.tasks 100
    git config maco.run.memory 64g
    run -- true
    expect_status 0
    expect '.observations.cgroup.files["pids.max"]' 100
    expect '.observations.cgroup.files["memory.max"]' 4294967296
    expect_err 'maco.run.memory (local configuration) is not heeded: a repository may only lower 4294967296'
    run --tasks 200 --memory 1g -- true
    expect '.observations.cgroup.files["pids.max"]' 200
    expect '.observations.cgroup.files["memory.max"]' 1073741824
    git config --unset maco.run.memory
    git -c maco.run.fsize=3m maco run --json -- true >"$test_dir/evidence.json"
    expect .observations.inside.limits.fsize.hard 3145728
    git config maco.run.cpu lots
    run -- true
    expect_status 125
    expect_err "maco.run.cpu (local configuration) 'lots' is not a number"
}

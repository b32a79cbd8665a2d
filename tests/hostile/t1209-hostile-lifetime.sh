# Hostile: outliving the run: daemons, sessions, ignored signals, closed descriptors, late writers (RUN-11).
# engines: qemu host
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

ways=(child double-fork session daemon group ignores-signals closed-stdio renamed stopped runner)

test_nothing_outlives_the_run() {
    new_repo
    mkdir out
    options=(--profile offline-write --write out)
    put survivor
    run "${options[@]}" -- ./hostile-survivor out 4
    expect_status 0
    expect_publishable
    expect_out started
    expect_nothing_left
    ! pgrep -f hostile-survivor >/dev/null || fail "a process is left"
    (($(evidence .measurements.processes_left_behind) >= ${#ways[@]})) || fail "they were not counted"
    [[ $(evidence '.observations.end.processes_before_leave | length') == 1 ]]
    sleep 8
    [[ $(ls out) == opened-before && ! -s out/opened-before ]] || fail "something was written after the end"
    # Control: outside each of them writes.
    rm -rf out && mkdir out
    ./hostile-survivor out 4 >/dev/null
    local i way
    for i in $(seq 100); do
        [[ -s out/opened-before && $(ls out | wc -l) == $((${#ways[@]} + 1)) ]] && break
        sleep 0.2
    done
    for way in "${ways[@]}"; do [[ -e out/$way ]] || fail "the control of '$way' does not work"; done
    [[ -s out/opened-before ]] || fail "the control of the delayed writer does not work"
}

# With the signals that end a run, and with its limits.
test_nothing_outlives_a_forced_end() {
    new_repo
    mkdir out
    put survivor
    run --timeout 3 --profile offline-write --write out -- sh -c './hostile-survivor out 6; sleep 600'
    expect_status 124
    expect_nothing_left
    ! pgrep -f hostile-survivor >/dev/null || fail "a process is left"
    sleep 8
    [[ ! -s out/opened-before && $(ls out | wc -l) == 1 ]] || fail "something was written after the end"
}

# Output goes on after the end of the target: maco-run does not wait for who holds the pipe.
test_a_held_pipe_does_not_hold_maco_run() {
    new_repo
    local before=$SECONDS
    run -- sh -c 'setsid sleep 600 & echo done'
    expect_status 0
    expect_out done
    ((SECONDS - before < 60)) || fail "maco-run waited"
    # Control: a plain pipe is held.
    ! timeout 2 bash -c 'x=$(setsid sleep 5 & echo done)' || fail "the control was not held"
}

# maco-run: steps of a named run: done once, bound to the worktree, uncertain after a kill (JRN-04, JRN-05).

step() { # STEP ARGUMENT...: one step of the run "rel"
    run --run rel --step "$@"
}
count() { wc -l <"$1"; }
writing=(--profile offline-write --write .)

test_step_is_done_once() {
    new_repo
    step build "${writing[@]}" -- sh -c 'echo built >>log'
    expect_status 0
    expect_publishable
    local first
    first=$(evidence .run)
    step build "${writing[@]}" -- sh -c 'echo built >>log'
    expect_status 0
    expect_err "was done by run $first; it is not done again"
    [[ $(evidence .run) == "$first" ]] || fail "other evidence is handed out"
    [[ $(count log) == 1 ]] || fail "it was done again"
    git-maco journal verify >/dev/null
    git-maco journal resume rel | grep -q 'it is not done again'
}

test_later_steps_of_the_run_do_not_unbind_it() {
    new_repo
    local i
    for i in 1 2; do
        step build "${writing[@]}" -- sh -c 'echo built >>one'
        expect_status 0
        step pack "${writing[@]}" -- sh -c 'echo packed >>two'
        expect_status 0
    done
    [[ $(count one) == 1 && $(count two) == 1 ]] || fail "a step was done again"
    run "${writing[@]}" -- sh -c 'echo else >>two' # no step of the run
    step build "${writing[@]}" -- sh -c 'echo built >>one'
    expect_status 125
    expect_err 'the worktree is not as it left it'
    [[ $(count one) == 1 ]] || fail "it was done again"
}

test_failed_step_is_done_again() {
    new_repo
    step build "${writing[@]}" -- sh -c 'echo x >>tries; [ "$(wc -l <tries)" = 2 ]'
    expect_status 1
    step build "${writing[@]}" -- sh -c 'echo x >>tries; [ "$(wc -l <tries)" = 2 ]'
    expect_status 0
    [[ $(count tries) == 2 ]]
}

test_validation_is_done_each_time() {
    new_repo
    step check --validation -- sh -c 'echo checked'
    expect_out checked
    step check --validation -- sh -c 'echo checked'
    expect_status 0
    expect_out checked
    step check --validation -- sh -c 'echo other'
    expect_status 125
    expect_err 'with another command'
}

test_interrupted_step_is_uncertain_until_resolved() {
    new_repo
    maco-run --run rel --step build "${writing[@]}" -- sh -c 'echo once >>log; echo ready >&2; sleep 600' \
        >/dev/null 2>"$test_dir/err" &
    local pid=$!
    until [[ -s log ]]; do kill -0 "$pid" && sleep 0.1; done
    step build "${writing[@]}" -- true # JRN-03: another process holds the run
    expect_status 125
    expect_err "a step of run 'rel' is going on"
    kill -KILL "$pid"
    wait "$pid" || true
    step build "${writing[@]}" -- sh -c 'echo once >>log; echo ready >&2; sleep 600'
    expect_status 125
    expect_err 'is uncertain'
    expect_err 'git maco journal resolve rel build'
    [[ $(count log) == 1 ]] || fail "an uncertain step was done again"
    status=0
    git-maco journal resume rel >"$test_dir/out" || status=$?
    expect_status 1
    git-maco journal resolve --did-not-happen --note 'put back by hand' rel build
    git checkout -q . && rm -f log
    step build "${writing[@]}" -- sh -c 'echo once >>log'
    expect_status 0
    [[ $(count log) == 1 ]]
    git-maco journal verify >/dev/null
    git-maco status >/dev/null
}

test_resolved_as_happened_is_not_done_again() {
    new_repo
    maco-run --run rel --step build "${writing[@]}" -- sh -c 'echo once >>log; sleep 600' >/dev/null 2>&1 &
    local pid=$!
    until [[ -s log ]]; do kill -0 "$pid" && sleep 0.1; done
    kill -KILL "$pid"
    wait "$pid" || true
    until [[ -z $(systemctl --user list-units --all --plain --no-legend 'maco-run-*') ]]; do sleep 0.1; done
    git-maco journal resolve --happened --note 'the line is in the log' rel build
    step build "${writing[@]}" -- sh -c 'echo once >>log; sleep 600'
    expect_status 0
    [[ $(count log) == 1 ]] || fail "it was done again"
}

test_result_is_handed_out_again() {
    new_repo
    local i
    for i in 1 2; do # the second time it lies there already
        step make --result out -- sh -c 'echo result >"$MACO_RESULT"'
        expect_status 0
        [[ $(cat out) == result ]]
    done
    rm out
    step make --result out -- sh -c 'echo result >"$MACO_RESULT"'
    expect_status 0
    [[ $(cat out) == result ]] || fail "the result is not there"
    echo other >out
    step make --result out -- sh -c 'echo result >"$MACO_RESULT"'
    expect_status 125
    expect_err 'exists already'
    [[ $(cat out) == other ]]
}

test_journal_of_real_runs_verifies() {
    new_repo
    run -- true
    run -- false
    run --timeout 1 -- sleep 60
    run --profile no-such -- true || true
    git-maco journal verify --json >"$test_dir/out"
    jq -e '.ok and (.journals | length == 3)' "$test_dir/out" >/dev/null || fail "verify"
    local id
    id=$(git-maco journal list -z | tr '\0' '\n' | head -n 1)
    git-maco journal show "$id" | grep -q command_completed
    git-maco journal rekey >/dev/null
    git-maco journal verify >/dev/null
    run -- true
    expect_status 0
    expect_publishable
    git-maco journal verify >/dev/null
}

test_rekey_waits_for_runs() {
    new_repo
    maco-run -- sleep 600 >/dev/null 2>&1 &
    local pid=$!
    until systemctl --user list-units --plain --no-legend 'maco-run-*' | grep -q .; do sleep 0.1; done
    status=0
    git-maco journal rekey >"$test_dir/out" 2>"$test_dir/err" || status=$?
    kill -TERM "$pid"
    wait "$pid" || true
    expect_status 128
    expect_err 'writes state now'
    git-maco journal rekey >/dev/null
}

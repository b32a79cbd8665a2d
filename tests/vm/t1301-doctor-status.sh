# git maco status over real runs: finished, refused, in progress, and one whose maco-run was killed (JRN-04).

status_json() { # leaves status in $status, the document in out
    status=0
    git-maco status --json >"$test_dir/out" 2>"$test_dir/err" || status=$?
}
says() { jq -e "$1" "$test_dir/out" >/dev/null || fail "the document does not say: $1"; }

start_and_wait() { # a run that lasts: its pid in $runner, its id in $id
    maco-run --json -- sleep 600 >/dev/null 2>&1 &
    runner=$!
    until grep -qs command_started .git/maco/runs/*/run.log; do
        kill -0 "$runner" || fail 'the run ended early'
        sleep 0.1
    done
    id=$(basename "$(dirname "$(grep -l command_started .git/maco/runs/*/run.log)")")
}

test_finished_runs_are_counted() {
    new_repo
    run -- true
    run -- false
    mkfifo pipe
    run -- true # refused before it has a directory
    status_json
    expect_status 0
    says '.runs.total == 2 and .runs.by_last_event.command_completed == 2 and
        .runs.uncertain == [] and .runs.damaged == []'
    [[ $(git-maco status | sed -n 2p) == 'runs        2: 2 completed' ]]
}

test_a_run_in_progress_is_not_uncertain() {
    new_repo
    start_and_wait
    status_json
    expect_status 0
    says '.runs.running == 1 and .runs.uncertain == [] and .runs.by_last_event.command_started == 1'
    pkill -KILL -x maco-guardian
    wait "$runner" || true
    status_json
    expect_status 0
    says '.runs.running == 0 and .runs.by_last_event.command_unproven == 1'
}

test_a_killed_run_is_uncertain() {
    new_repo
    start_and_wait
    kill -KILL "$runner"
    wait "$runner" || true
    run -- true
    status_json
    expect_status 1
    says ".runs.uncertain[0].run == \"$id\" and .runs.by_last_event.command_completed == 1"
    says ".runs.uncertain[0].remedy | endswith(\"git maco journal resolve $id\")"
    says '.runs.uncertain | length == 1'
    git-maco status | grep -q "^UNCERTAIN   $id: started" || fail 'people are not told'
}

test_one_damaged_run_hides_nothing() {
    new_repo
    run -- true
    run -- true
    damaged=$(find .git/maco/runs -mindepth 1 -maxdepth 1 | head -n 1)
    printf X | dd of="$damaged/run.log" bs=1 seek=700 conv=notrunc status=none
    status_json
    expect_status 1
    says ".runs.damaged[0].run == \"$(basename "$damaged")\" and .runs.by_last_event.command_completed == 1"
}

test_evidence_that_was_changed_is_uncertain() {
    new_repo
    run -- true
    sed -i 's/"publishable":true/"publishable":null/' .git/maco/runs/*/trusted/evidence.json
    status_json
    expect_status 1
    says '.runs.uncertain | length == 1'
}

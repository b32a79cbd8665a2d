# maco-run: what a target can see, write and use up (RUN-03, RUN-07 to RUN-10, RUN-13, ADM-01, JRN-10).

test_offline_read_cannot_write_the_workspace() {
    new_repo
    run -- sh -c 'echo x >file'
    expect_status 2
    expect_err 'Read-only file system'
    [[ $(cat file) == content ]]
}

test_offline_write_writes_named_roots_only() {
    new_repo
    mkdir out
    run --profile offline-write --write out -- sh -c 'echo made >out/new; echo x >file || exit 9'
    expect_status 9
    expect_publishable
    [[ $(cat out/new) == made && $(cat file) == content ]]
    expect '.requested.roots | to_entries | map(select(.value.access == "rw")) | length' 1
}

test_git_directory_stays_read_only_in_a_writable_workspace() {
    new_repo
    run --profile offline-write --write . -- sh -c '
        echo x >new && ! touch .git/planted && ! touch .git/hooks/pre-commit && ! rm -rf .git/HEAD &&
        ! mv .git away && ! git config user.name evil'
    expect_status 0
    expect_publishable
    [[ -e new && ! -e .git/planted && -d .git ]]
}

test_linked_worktree_sees_git_and_cannot_change_it() {
    new_repo
    git worktree add -q ../lane
    cd ../lane
    run --profile offline-write --write . -- sh -c '
        git log --oneline -1 && echo y >file && git diff --stat && ! rm -f .git && ! git commit -qam x'
    expect_status 0
    expect_publishable
    [[ -f .git && $(git log --oneline | wc -l) == 1 ]]
}

test_key_and_state_are_hidden() {
    new_repo
    run -- sh -c 'ls .git/maco || cat .git/maco/key'
    expect_status 1
    expect_err 'Permission denied'
    expect '.observations.inside.masks | to_entries[] | select(.key | endswith("/.git/maco")) | .value.open_errno' 13
}

test_home_run_and_tmp_are_private() {
    new_repo
    mkdir -p ~/.ssh && echo secret >~/.ssh/id
    touch /tmp/of-the-host /var/tmp/of-the-host
    run -- sh -c 'ls -A /tmp /var/tmp /dev/shm /run "$0"/.ssh' "$(getent passwd maco | cut -d: -f6)"
    rm /tmp/of-the-host /var/tmp/of-the-host
    ! grep -qE 'of-the-host|dbus|systemd|user|id$' "$test_dir/out" || fail "the host shows"
    run -- sh -c 'echo x >/tmp/a && echo x >/var/tmp/a && echo x >/dev/shm/a && echo x >~/a && ! echo x >/run/a'
    expect_status 0
    [[ ! -e /tmp/a && ! -e /var/tmp/a && ! -e /dev/shm/a ]]
}

test_workspace_below_tmp() {
    mkdir /tmp/work.$$
    new_repo "/tmp/work.$$/repo"
    run --profile offline-write --write . -- sh -c 'echo x >new; cat file'
    expect_status 0
    expect_publishable
    [[ -e new ]]
    rm -rf "/tmp/work.$$"
}

test_workspace_path_with_odd_characters() {
    new_repo "$HOME/a b:c%d\"e'f\\g\$h"
    run --profile offline-write --write . -- sh -c 'pwd; echo x >new'
    expect_status 0
    expect_publishable
    [[ -e new && $(cat "$test_dir/out") == "$PWD" ]]
}

test_only_three_descriptors() {
    new_repo
    exec 8</etc/passwd
    run -- sh -c 'ls /proc/self/fd'
    expect_status 0
    [[ $(tr '\n' ' ' <"$test_dir/out") == '0 1 2 3 ' ]] || fail "descriptors leak"
}

test_input_file_cannot_be_reopened_for_writing() {
    new_repo
    echo precious >"$HOME/precious"
    status=0
    maco-run -- sh -c 'cat >/dev/null; echo x >/proc/self/fd/0' <"$HOME/precious" || status=$?
    [[ $(cat "$HOME/precious") == precious ]]
}

test_own_process_tree_only() {
    new_repo
    sleep 500 &
    local other=$!
    run -- sh -c 'kill -0 "$0" && echo reached; ls /proc | grep -c "^[0-9]"; echo "pid $$"' "$other"
    kill "$other"
    ! grep -q reached "$test_dir/out" || fail "another process was reached"
    grep -qx 'pid 2' "$test_dir/out"
}

test_memory_limit_is_named() {
    new_repo
    run --memory 64m -- perl -e '$x = "a" x (200 << 20); sleep 100'
    expect .outcome.ended_by 'memory limit'
    expect .publishable false
    expect_err 'ran out of memory'
    expect_status 137
    expect_nothing_left
}

# Ending the target frees nothing of a temporary file system, so the kernel goes on to the guardian's
# processes: the one that tells how the run ended has to be the last.
test_memory_that_nobody_frees_spares_the_guardian() {
    new_repo
    run -- cat /proc/self/oom_score_adj /proc/1/oom_score_adj
    [[ $(tr '\n' ' ' <"$test_dir/out") == '1000 600 ' ]] || fail "no order"
    local time
    for time in 1 2 3 4 5 6; do
        run --memory 64m --tmp 512m -- sh -c 'cat /dev/zero >/tmp/all'
        expect .outcome.ended_by 'memory limit'
        expect_status 137
        expect_nothing_left
    done
}

test_task_limit_holds() {
    new_repo
    run --tasks 16 -- sh -c 'for i in $(seq 40); do sleep 5 & done; wait'
    [[ $(evidence '.measurements.counters["pids.events"]') != 'max 0' ]] || fail "the limit was not hit"
    expect_nothing_left
}

test_timeout_is_124_and_named() {
    new_repo
    run --timeout 1 -- sh -c 'trap "" TERM; sleep 300'
    expect_status 124
    expect_err 'timed out after 1 s'
    expect .outcome.ended_by timeout
    expect .publishable false
    expect_nothing_left
}

test_file_size_descriptor_and_core_limits() {
    new_repo
    run --fsize 4096 --nofile 256 -- sh -c 'ulimit -c; ulimit -n; head -c 8192 /dev/zero >/tmp/big'
    expect_status 153
    [[ $(head -n 2 "$test_dir/out" | tr '\n' ' ') == '0 256 ' ]]
}

test_private_tmp_is_bounded() {
    new_repo
    run --tmp 1m -- sh -c 'head -c 4194304 /dev/zero >/tmp/big'
    expect_status 1
    expect_err 'No space left'
}

test_output_is_cut_in_the_log_only() {
    new_repo
    run --output-limit 1000 -- sh -c 'head -c 100000 /dev/zero'
    expect_status 0
    [[ $(wc -c <"$test_dir/out") == 100000 ]]
    [[ $(cat .git/maco/runs/*/trusted/stdout.log | wc -c) == 1000 ]]
    expect .measurements.output.stdout.log_truncated true
}

test_diagnostic_runs_version_only_and_never_publishes() {
    new_repo
    run --profile diagnostic -- /usr/bin/git --version
    expect_status 0
    expect .publishable false
    run --profile diagnostic -- /usr/bin/git status
    expect_status 125
    expect_err "runs 'PROGRAM --version' only"
    mkdir -p "$HOME/bin"
    cp /usr/bin/env "$HOME/bin/mine"
    run --profile diagnostic -- "$HOME/bin/mine" --version
    expect_status 0
}

test_result_cannot_be_replaced() {
    new_repo
    run --result r -- sh -c 'rm -f "$MACO_RESULT"; ln -sf /etc/passwd "$MACO_RESULT"; mv "$MACO_RESULT" /tmp/x
        chmod 666 /run/maco; echo good >"$MACO_RESULT"'
    expect_status 0
    expect_publishable
    [[ $(cat r) == good ]]
    run --result r2 -- sh -c 'echo x >"$MACO_RESULT"; chmod 644 "$MACO_RESULT"'
    expect_status 122
    expect .publishable false
    [[ ! -e r2 ]]
}

test_nested_repositories_keep_their_git_directories() {
    new_repo
    git init -q vendor/sub
    run --profile offline-write --write . -- sh -c '
        echo x >vendor/sub/new && ! echo evil >vendor/sub/.git/hooks/pre-commit && ! rm -rf vendor/sub/.git'
    expect_status 0
    expect_publishable
    [[ -e vendor/sub/new && ! -e vendor/sub/.git/hooks/pre-commit ]]
}

test_git_entry_that_is_a_link_is_refused() {
    new_repo
    mkdir inner
    ln -s ../.git inner/.git
    run --profile offline-write --write . -- true
    expect_status 125
    expect_err 'is a symbolic link, so it cannot be protected'
}

test_clone_with_shared_objects_can_be_written() {
    new_repo
    git clone -q --local . ../clone
    cd ../clone
    git-maco init >/dev/null
    [[ $(find .git/objects -type f -links +1 | wc -l) -gt 0 ]] || fail "the clone shares nothing"
    run --profile offline-write --write . -- touch new
    expect_status 0
    expect_publishable
}

test_change_of_hooks_by_the_user_is_reported() {
    new_repo
    run -- true
    expect '.measurements.administrative_changes | length' 0
    mkfifo "$HOME/ready"
    maco-run --evidence-fd 9 -- sh -c 'echo; sleep 3' >"$HOME/ready" 9>"$test_dir/evidence.json" &
    read -r _ <"$HOME/ready"
    echo '#!/bin/sh' >.git/hooks/pre-commit
    wait "$!"
    expect '.measurements.administrative_changes | join(",")' hooks/pre-commit
    expect .publishable true
}

# RUN-14: what is written to the roots, to the private directories, and to files without a name.
disk_limit() { # PROGRAM: writes 24 MiB and then waits, in sh
    run --profile offline-write --write . --disk 8m --timeout 60 -- sh -c "$1; sleep 50"
    expect_status 137
    expect .publishable false
    expect .outcome.ended_by 'disk limit'
    expect_err 'more than the limit of 8388608, and was ended; --disk sets the limit'
    (($(evidence .measurements.disk.taken) > 8388608)) || fail "what was taken is below the limit"
    expect_nothing_left
    # The control: it fits.
    run --profile offline-write --write . --disk 100m -- sh -c "$1"
    expect_status 0
    expect_publishable
    (($(evidence .measurements.disk.taken) < 100 << 20)) || fail "more than was written"
}

test_disk_limit_of_writable_roots() {
    new_repo
    disk_limit 'head -c 25165824 /dev/zero >big'
    rm -f big
    disk_limit 'mkdir -p many; for i in $(seq 24); do head -c 1048576 /dev/zero >many/$i; done'
}

test_disk_limit_of_private_directories() {
    new_repo
    local place
    for place in /tmp /var/tmp /dev/shm; do disk_limit "head -c 25165824 /dev/zero >$place/big"; done
}

test_disk_limit_of_files_without_a_name() {
    new_repo
    disk_limit 'exec 7>gone; rm gone; head -c 25165824 /dev/zero >&7'
}

test_a_task_limit_that_was_met_is_named() {
    new_repo
    run --tasks 16 -- sh -c 'for i in $(seq 40); do sleep 1 & done; wait' || true
    expect_err 'the limit of 16 processes and threads was met'
    (($(evidence .outcome.task_limit_hits) > 0)) || fail "not in the evidence"
    run -- true
    expect '.outcome | has("task_limit_hits")' false
}

test_control_characters_reach_no_terminal() {
    new_repo
    local command="printf 'a\\033[31mb\\007\\n'"
    script -qec "maco-run -- $command" /dev/null </dev/null | tr -d '\r' >"$test_dir/out"
    grep -qxF 'a\x1b[31mb\x07' "$test_dir/out" || fail "not escaped"
    script -qec "maco-run --raw -- $command" /dev/null </dev/null | tr -d '\r' >"$test_dir/out"
    grep -qF $'a\033[31mb\007' "$test_dir/out" || fail "--raw escapes"
    maco-run -- printf 'a\033[31mb\007\n' >"$test_dir/out"
    cmp "$test_dir/out" <(printf 'a\033[31mb\007\n') || fail "a pipe gets other bytes"
}

# A path that no D-Bus message can carry: inside it has another name, outside all is as ever.
test_workspace_path_that_is_not_utf() {
    local dir
    for dir in $'caf\xe9/rep\xffo' $'\xfe'; do
        mkdir -p "$HOME/$dir"
        new_repo "$HOME/$dir/plain"
        git init -q "$HOME/$dir/plain/nested"
        cd "$HOME/$dir/plain"
        run -- sh -c 'pwd; cat file; ! touch file; cat .git/maco/key || git log --oneline | wc -l'
        expect_status 0
        expect_publishable
        expect_out $'/run/maco/root-0\ncontent\n1'
        expect_err 'Permission denied'
        run --profile offline-write --write . --result "$HOME/r" -- sh -c '
            echo y >new; echo z >"$MACO_RESULT"; ! touch .git/planted && ! touch nested/.git/planted && ! mv nested other'
        expect_status 0
        expect_publishable
        [[ $(cat new) == y && $(cat "$HOME/r") == z && ! -e .git/planted && ! -e nested/.git/planted ]] || fail "not as it should be"
        rm "$HOME/r"
        ! ls -d "/run/user/$UID"/maco-run-* 2>/dev/null || fail "links are left"
        cd "$HOME"
    done
    # What lies deeper under such a name cannot be protected, and is refused.
    new_repo "$HOME/top"
    git init -q $'nested-\xe9'
    run --profile offline-write --write . -- true
    expect_status 125
    expect_err 'is not UTF-8, so systemd cannot protect it'
    run -- true
    expect_status 0
}

# What cannot be looked into counts as what the file system has lost.
test_disk_limit_of_closed_directories() {
    new_repo
    run --profile offline-write --write . --disk 8m --timeout 60 -- sh -c '
        mkdir closed; exec 7>closed/big; chmod 0 closed; head -c 25165824 /dev/zero >&7; exec 7>&-; sleep 50'
    chmod 700 closed
    expect_status 137
    expect .outcome.ended_by 'disk limit'
    expect_nothing_left
}

# maco-run: signals, and the death of maco-run or of its guardian, at every moment (RUN-11).

start_run() { # ARGUMENT...: in the background; waits until the target says that it runs
    : >"$test_dir/out"
    maco-run --evidence-fd 9 "$@" >"$test_dir/out" 2>"$test_dir/err" 9>"$test_dir/evidence.json" </dev/null &
    pid=$!
    until [[ -s $test_dir/out ]]; do kill -0 "$pid" && sleep 0.1; done
}

finish_run() { status=0 && { wait "$pid" || status=$?; }; }

# The unit of a killed run goes by itself; this waits for it and fails if it never does.
await_nothing_left() {
    local i
    for i in $(seq 300); do
        [[ -n $(systemctl --user list-units --all --plain --no-legend 'maco-run-*') ]] || break
        sleep 0.1
    done
    expect_nothing_left
}

test_interrupt_reaches_the_target() {
    new_repo
    start_run -- sh -c 'trap "echo caught; exit 5" INT; echo ready; while :; do sleep 0.2; done'
    kill -INT "$pid"
    finish_run
    expect_status 5
    grep -qx caught "$test_dir/out"
    expect .outcome.ended_by 'signal to maco-run'
    expect .publishable false
    expect_nothing_left
}

test_second_signal_kills() {
    new_repo
    start_run -- sh -c 'trap "" INT TERM HUP; echo ready; while :; do sleep 0.2; done'
    kill -TERM "$pid"
    sleep 0.5
    kill -TERM "$pid"
    finish_run
    expect_status 137
    expect_nothing_left
}

test_hangup_ends_a_stubborn_target() {
    new_repo
    start_run -- sh -c 'trap "" HUP; setsid sleep 600 & echo ready; while :; do sleep 0.2; done'
    kill -HUP "$pid"
    finish_run
    expect_status 137
    ! pgrep -x sleep >/dev/null || fail "a process is left"
    expect_nothing_left
}

test_kill_of_maco_run_leaves_no_process() {
    new_repo
    start_run -- sh -c 'setsid sleep 600 & echo ready; sleep 600'
    kill -KILL "$pid"
    finish_run
    await_nothing_left
    ! pgrep -x sleep >/dev/null || fail "a process is left"
}

test_kill_of_maco_run_while_it_starts() {
    new_repo
    local delay
    for delay in 0.05 0.1 0.2 0.3 0.4 0.5 0.7; do
        maco-run -- sleep 600 >/dev/null 2>&1 &
        pid=$!
        sleep "$delay"
        kill -KILL "$pid"
        wait "$pid" || true
    done
    await_nothing_left
    ! pgrep -x sleep >/dev/null || fail "a target was started"
}

test_kill_of_the_guardian_is_unproven() {
    new_repo
    start_run -- sh -c 'echo ready; sleep 600'
    pkill -KILL -o -x maco-guardian
    finish_run
    expect_status 122
    expect .publishable false
    expect .outcome.ended_by 'loss of the guardian'
    expect_nothing_left
}


test_reader_of_output_that_leaves() {
    new_repo
    local line
    line=$(maco-run -- yes 2>/dev/null | head -n 1)
    [[ $line == y ]]
    await_nothing_left
}

# A command with a terminal as its standard output that nobody reads; then its status.
undrained() { # COMMAND...
    perl -e '
        use Fcntl;
        sysopen(my $master, "/dev/ptmx", O_RDWR | O_NOCTTY) or die "ptmx: $!";
        ioctl($master, 0x40045431, my $unlocked = pack("i", 0)) or die "TIOCSPTLCK: $!";
        ioctl($master, 0x80045430, my $number = pack("I", 0)) or die "TIOCGPTN: $!";
        my $child = fork();
        if ($child == 0) {
            sysopen(my $tty, "/dev/pts/" . unpack("I", $number), O_RDWR | O_NOCTTY) or die "pts: $!";
            open(STDOUT, ">&", $tty) or die $!;
            exec @ARGV;
        }
        $SIG{TERM} = sub { kill "TERM", $child };
        1 while waitpid($child, 0) != $child;
        exit($? & 127 ? 128 + ($? & 127) : $? >> 8);
    ' "$@" 2>"$test_dir/err" </dev/null
}

# RUN-10, RUN-11: a reader that stopped holds up neither the time limit nor a signal.
test_terminal_that_nobody_reads() {
    new_repo
    status=0 # the control: a writer that waits does not get far
    undrained timeout 5 sh -c 'head -c 200000 /dev/zero | tr "\0" x; echo done >&2' || status=$?
    expect_status 124
    local options
    for options in '' --raw; do
        status=0
        # shellcheck disable=SC2086
        undrained timeout -k 1 100 maco-run $options --timeout 3 -- yes || status=$?
        expect_status 124
        expect_err 'timed out after 3 s'
        expect_nothing_left
    done
    undrained timeout -k 1 100 maco-run --timeout 90 -- yes &
    local pid=$!
    until pgrep -x yes >/dev/null; do sleep 0.1; done
    sleep 1
    pkill -TERM -x maco-run
    finish_run
    expect_status 143
    expect_err 'was ended by SIGTERM'
    expect_nothing_left
}

# The same when it is standard error that nobody reads: no note and no refusal holds maco-run up.
test_notes_that_nobody_reads() {
    new_repo
    mkfifo "$HOME/full"
    exec 7<>"$HOME/full"
    perl -e 'use Fcntl; fcntl(STDOUT, F_SETFL, O_WRONLY | O_NONBLOCK); 1 while syswrite(STDOUT, "x" x 4096)' >"$HOME/full"
    ! timeout 2 sh -c 'echo x >&2' 2>"$HOME/full" || fail "there is room for a line"
    maco-run --timeout 2 -- sleep 60 2>"$HOME/full" 7>&- &
    pid=$!
    finish_run # not held up for ever
    expect_status 124
    maco-run --timeout 90 -- sleep 60 2>"$HOME/full" 7>&- &
    pid=$!
    until grep -qs command_started .git/maco/runs/*/run.log && pgrep -x sleep >/dev/null; do sleep 0.1; done
    kill -TERM "$pid"
    finish_run
    expect_status 143
    maco-run --write "$HOME/none" -- true 2>"$HOME/full" 7>&- &
    pid=$!
    finish_run
    expect_status 125
    exec 7>&-
    expect_nothing_left
}

# A stopped guardian does not see that its host is gone; the next run ends it and says so.
test_what_a_killed_run_left_is_cleaned_by_the_next() {
    new_repo
    maco-run -- sleep 600 >/dev/null 2>&1 &
    local pid=$!
    until ls .git/maco/live/* >/dev/null 2>&1 && pgrep -x sleep >/dev/null; do sleep 0.1; done
    local id guardian
    id=$(ls .git/maco/live)
    guardian=$(systemctl --user show -P MainPID "maco-run-$id")
    kill -STOP "$guardian"
    kill -KILL "$pid"
    wait "$pid" || true
    sleep 1
    systemctl --user is-active -q "maco-run-$id" || fail "the unit is not left: nothing is tested"
    run -- true
    expect_status 0
    expect_publishable
    expect_err "ended the unit of run $id"
    expect_err "run $id was cut short after its start: its outcome is uncertain"
    expect_nothing_left
    [[ -z $(ls -A .git/maco/live) ]] || fail "an entry is left"
    git-maco status | grep -q UNCERTAIN || fail "status does not say it"
    # Once: the next one has nothing to say.
    run -- true
    [[ ! -s $test_dir/err ]] || fail "it was said twice"
}

# A run that is going on is nobody's leftover.
test_runs_beside_one_another() {
    new_repo
    maco-run -- sleep 8 >/dev/null 2>&1 &
    local pid=$!
    until ls .git/maco/live/* >/dev/null 2>&1 && pgrep -x sleep >/dev/null; do sleep 0.1; done
    run -- true
    expect_status 0
    [[ ! -s $test_dir/err ]] || fail "it says something"
    wait "$pid"
    [[ -z $(ls -A .git/maco/live) ]] || fail "an entry is left"
}

# Hostile: using up the machine: processes, memory in every form, descriptors, files, core (RUN-10).
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

limits=(--memory 96m --tasks 24 --nofile 256 --fsize 4m --tmp 8m --profile offline-write --write scratch)

# What has no more to give says so, and the run goes on.
test_limits_that_say_no() {
    new_repo
    mkdir scratch
    options=("${limits[@]}")
    attack resources count=300 mib=6 "dir=$PWD/scratch" fork-bomb descriptors big-file raise-nofile raise-fsize raise-core core
    stopped_by <<'TABLE'
fork-bomb     EAGAIN   cgroup:pids.max
descriptors   EMFILE   limit:nofile
big-file      EFBIG    limit:fsize
raise-nofile  EPERM    limit:nofile capabilities
raise-fsize   EPERM    limit:fsize capabilities
raise-core    EPERM    limit:core capabilities
core          ENODATA  limit:core
TABLE
    [[ $(evidence '.measurements.counters["pids.events"]') != 'max 0' ]] || fail "no fork was refused"
    options=(--memory 96m --tasks 24 --tmp 8m --profile offline-write --write scratch)
    layers_off property:TasksMax,property:LimitNOFILE,property:LimitFSIZE,property:LimitCORE resources \
        count=300 mib=6 "dir=$PWD/scratch" fork-bomb descriptors big-file core </dev/null
    # What a limit is above its default needs a privilege, whoever asks.
    cat >>"$test_dir/controlled" <<'NAMES'
raise-nofile
raise-fsize
raise-core
NAMES
    all_controlled
}

test_temporary_file_systems() {
    new_repo
    mkdir scratch
    options=("${limits[@]}" --fsize 64m)
    local place
    for place in /tmp /var/tmp /dev/shm; do
        attack resources mib=12 "dir=$place" temporary-file
        echo "temporary-file ENOSPC private:$place" | stopped_by
        options+=(--tmp 24m)
        layers_off property:LimitFSIZE resources mib=12 "dir=$place" temporary-file </dev/null
        all_controlled
        options=("${limits[@]}" --fsize 64m)
    done
}

# The kernel ends it, and maco-run says why; the machine does not feel it.
test_memory_in_every_form() {
    new_repo
    local attempt
    for attempt in memory memory-of-many memory-file pipes temporary-file; do
        options=(--memory 64m --tmp 512m --tasks 64 --nofile 8192)
        put resources
        run "${options[@]}" -- ./hostile-resources mib=160 dir=/tmp "$attempt"
        ! grep -q worked "$test_dir/out" || fail "$attempt got more than its limit"
        expect .publishable false
        expect .outcome.ended_by 'memory limit'
        expect_err 'ran out of memory'
        expect_status 137
        expect_nothing_left
        options=(--tmp 512m --tasks 64 --nofile 8192 --memory 64m)
        layers_off property:MemoryMax resources mib=160 dir=/tmp "$attempt" </dev/null
    done
}

# Every inode is memory too, so that many empty files end as the rest does.
test_many_files() {
    new_repo
    put resources
    run --memory 48m --tmp 512m -- ./hostile-resources count=100000 dir=/tmp many-files
    ! grep -q worked "$test_dir/out" || fail "it made them all"
    expect .outcome.ended_by 'memory limit'
    expect_nothing_left
    options=(--memory 1g --tmp 512m)
    run "${options[@]}" -- ./hostile-resources count=100000 dir=/tmp many-files
    expect_out 'many-files worked'
}

test_output_without_end() {
    new_repo
    run --timeout 3 --output-limit 1m -- yes hostile
    expect_status 124
    expect .measurements.output.stdout.log_truncated true
    (($(wc -c <.git/maco/runs/*/trusted/stdout.log) <= 1048576)) || fail "the log grew beyond its limit"
    (($(wc -c <"$test_dir/out") > 1048576)) || fail "the control printed less than the limit"
    expect_nothing_left
}

test_cpu_is_shared() {
    new_repo
    run --cpu 20 --timeout 4 -- sh -c 'while :; do :; done'
    expect_status 124
    [[ $(evidence '.measurements.counters["cpu.stat"]' | sed -n 's/^nr_throttled //p') -gt 0 ]] || fail "never throttled"
    # The control: the same with more than it can use.
    run --cpu 10000 --timeout 4 -- sh -c 'while :; do :; done'
    expect_status 124
    expect '.measurements.counters | has("cpu.stat")' true
    [[ $(evidence '.measurements.counters["cpu.stat"]' | sed -n 's/^nr_throttled //p') == @(|0) ]] ||
        fail "the control was throttled"
}

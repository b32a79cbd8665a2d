# Hostile: other processes, those of the guard and those of the user; its own cgroup (RUN-07, RUN-15).
# engines: qemu host
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

victim() { # starts a process of the user outside: $victim
    sleep 600 </dev/null >/dev/null 2>&1 &
    victim=$!
    disown
}

test_a_process_of_the_user() {
    new_repo
    victim
    local attempts=(trace vm-readv vm-writev mem environ maps cmdline root cwd exe fd ns pidfd-getfd
        pidfd-signal priority affinity limit reach-any signal stop continue kill)
    attack processes "victim=$victim" "${attempts[@]}"
    kill -0 "$victim"
    [[ $(ps -o stat= -p "$victim") == S* ]]
    stopped_by <<'TABLE'
trace         EPERM   filter:ptrace namespace:pid namespace:user
vm-readv      EPERM   filter:process-vm-readv namespace:pid namespace:user
vm-writev     EPERM   filter:process-vm-writev namespace:pid namespace:user
mem           ENOENT  namespace:pid namespace:user
environ       ENOENT  namespace:pid namespace:user
maps          ENOENT  namespace:pid namespace:user
cmdline       ENOENT  namespace:pid
root          ENOENT  namespace:pid namespace:user
cwd           ENOENT  namespace:pid namespace:user
exe           ENOENT  namespace:pid namespace:user
fd            ENOENT  namespace:pid namespace:user
ns            ENOENT  namespace:pid namespace:user
pidfd-getfd   ESRCH   filter:pidfd-getfd namespace:pid
pidfd-signal  ESRCH   namespace:pid
priority      ESRCH   namespace:pid
affinity      ESRCH   namespace:pid
limit         ESRCH   namespace:pid
reach-any     ESRCH   namespace:pid
signal        ESRCH   namespace:pid
stop          ESRCH   namespace:pid
continue      ESRCH   namespace:pid
kill          ESRCH   namespace:pid
TABLE
    control processes "victim=$victim" "${attempts[@]}" </dev/null
    all_controlled
    # The namespaces are what counts: without them, and without the filter, the run reaches out.
    victim
    layers_off step:namespaces,property:PrivateUsers processes "victim=$victim" trace </dev/null || true
    kill -9 "$victim"
}

# The guard is process 1 inside. A signal to it is taken and does nothing, see pid_namespaces(7).
test_the_guard() {
    new_repo
    local attempts=(trace vm-readv vm-writev mem environ root cwd exe fd pidfd-getfd)
    attack processes victim=1 "${attempts[@]}"
    stopped_by <<'TABLE'
trace         EPERM   filter:ptrace init
vm-readv      EPERM   filter:process-vm-readv init
vm-writev     EPERM   filter:process-vm-writev init
mem           EACCES  init
environ       EACCES  init
root          EACCES  init
cwd           EACCES  init
exe           EACCES  init
fd            EACCES  init
pidfd-getfd   EPERM   filter:pidfd-getfd init
TABLE
    victim
    control processes "victim=$victim" "${attempts[@]}" </dev/null
    all_controlled
    kill "$victim"
    attack processes parent=1 kill-parent stop-parent end-parent
    stopped_by <<'TABLE'
kill-parent  IGNORED  init namespace:pid
stop-parent  IGNORED  init namespace:pid
end-parent   IGNORED  init namespace:pid
TABLE
    local attempt
    for attempt in kill-parent end-parent; do
        victim
        control processes "parent=$victim" "$attempt" </dev/null
    done
    victim
    control processes "parent=$victim" stop-parent <<'TABLE'
stop-parent both a stopped process still is one; that it stops is looked at below
TABLE
    [[ $(ps -o stat= -p "$victim") == T* ]] || fail "the control of stop-parent does not work"
    kill -9 "$victim"
    all_controlled
}

test_maco_run_itself() {
    new_repo
    put processes
    : >"$test_dir/controlled"
    # The shell becomes maco-run, and so knows its number.
    status=0
    bash -c 'exec maco-run --evidence-fd 9 -- ./hostile-processes "victim=$$" trace mem stop kill' \
        >"$test_dir/out" 2>"$test_dir/err" 9>"$test_dir/evidence.json" || status=$?
    cp "$test_dir/out" "$test_dir/attacked"
    stopped_by <<'TABLE'
trace  EPERM   filter:ptrace namespace:pid
mem    ENOENT  namespace:pid
stop   ESRCH   namespace:pid
kill   ESRCH   namespace:pid
TABLE
    expect_nothing_left
    # The control: the same from outside ends a run, which is then not proven (t1004).
    maco-run -- sleep 600 >"$test_dir/ignored" 2>&1 &
    local pid=$!
    until pgrep -x maco-guardian >/dev/null; do sleep 0.1; done
    control processes "victim=$pid" stop kill </dev/null
    ! wait "$pid"
    echo "trace mem" | tr ' ' '\n' >>"$test_dir/controlled" # maco-run is not dumpable (JRN-10)
    all_controlled
}

test_every_process_at_once() {
    new_repo
    victim
    run -- sh -c 'kill -KILL -1; kill -STOP -1; echo alive'
    expect_status 0
    expect_out alive
    expect_publishable
    kill -0 "$victim"
    # The control, in a process tree of its own: there it ends everything but the first process.
    unshare -Urpf --mount-proc sh -c 'sleep 600 & kill -KILL -1; wait; ! kill -0 $! 2>/dev/null'
    kill "$victim"
}

test_its_own_cgroup() {
    new_repo
    systemd-run --user -q --unit hostile-sibling sleep 600
    local sibling
    sibling=/sys/fs/cgroup$(systemctl --user show -P ControlGroup hostile-sibling)
    attack cgroups "sibling=$sibling"
    systemctl --user is-active -q hostile-sibling
    stopped_by <<'TABLE'
raise-memory     EROFS  read-only:/sys/fs/cgroup cgroup:memory.max
raise-tasks      EROFS  read-only:/sys/fs/cgroup cgroup:pids.max
raise-cpu        EROFS  read-only:/sys/fs/cgroup cgroup:cpu.max
make-below       EROFS  read-only:/sys/fs/cgroup
make-beside      EROFS  read-only:/sys/fs/cgroup
freeze-sibling   EROFS  read-only:/sys/fs/cgroup
kill-sibling     EROFS  read-only:/sys/fs/cgroup
move-to-sibling  EROFS  read-only:/sys/fs/cgroup namespace:cgroup
TABLE
    # The cgroup namespace is a border as well, since the mount has nsdelegate: its own limits and
    # processes stay out of reach, though not other cgroups.
    layers_off property:ProtectControlGroups,step:landlock cgroups "sibling=$sibling" raise-memory raise-tasks \
        raise-cpu move-to-sibling make-below make-beside freeze-sibling <<'TABLE'
raise-memory both the cgroup namespace
raise-tasks both the cgroup namespace
raise-cpu both the cgroup namespace
move-to-sibling both the cgroup namespace
TABLE
    layers_off property:ProtectControlGroups,step:namespaces,step:drop-privilege,step:landlock cgroups "sibling=$sibling" raise-memory \
        raise-tasks raise-cpu move-to-sibling </dev/null
    layers_off property:ProtectControlGroups,step:landlock cgroups "sibling=$sibling" kill-sibling </dev/null
    all_controlled
}

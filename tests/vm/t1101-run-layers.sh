# Each layer of the confinement left out, one at a time: the gate refuses, and names what it saw
# (RUN-02 to RUN-05, RUN-07 to RUN-10). maco-run-omit does not send a property, does not make a mask or
# a private directory, skips a step of the guardian, or leaves a system call out of the filter.

# omitted LAYER[,LAYER]... WORDS [OPTION]...: the run is refused before its target, and one of the
# reasons holds the words. The same run without an omission is publishable (see each test).
omitted() {
    local layers=$1 words=$2
    shift 2
    status=0
    maco-run-omit --omit "$layers" --evidence-fd 9 "$@" -- sh -c 'echo released' \
        >"$test_dir/out" 2>"$test_dir/err" 9>"$test_dir/evidence.json" </dev/null || status=$?
    expect_status 125 || fail "$layers left out"
    expect_out '' || fail "$layers left out"
    expect .publishable false
    jq -e --arg words "$words" '[.reasons[], .refusal] | any(contains($words))' \
        "$test_dir/evidence.json" >/dev/null || fail "no reason says '$words': $(evidence '.reasons|tojson')"
    expect_nothing_left
}

control() {
    run "$@" -- sh -c 'echo released'
    expect_status 0
    expect_out released
    expect_publishable
}

# Seen from inside or in the kernel's own files, not only read back from systemd.
test_properties_that_the_gate_observes() {
    new_repo
    mkdir out
    local options=(--profile offline-write --write out)
    control "${options[@]}"
    omitted property:PrivateUsers 'the unit ended before the gate' "${options[@]}"
    omitted property:PrivateDevices "'/dev' (" "${options[@]}"
    omitted property:PrivateNetwork 'inside.namespaces.net: ' "${options[@]}"
    omitted property:PrivateIPC 'inside.namespaces.ipc: ' "${options[@]}"
    omitted property:ProtectSystem "'/' is not read-only" "${options[@]}"
    omitted property:ProtectControlGroups "'/sys/fs/cgroup' (cgroup2) is writable" "${options[@]}"
    omitted property:ProtectKernelTunables "'/sys' (sysfs) is writable" "${options[@]}"
    omitted property:MemoryMax 'cgroup.files.memory.max: ' "${options[@]}"
    omitted property:MemorySwapMax 'cgroup.files.memory.swap.max: ' "${options[@]}"
    omitted property:TasksMax 'cgroup.files.pids.max: ' "${options[@]}"
    omitted property:CPUQuotaPerSecUSec 'cpu.max' "${options[@]}"
    omitted property:LimitNOFILE 'inside.limits.nofile' "${options[@]}"
    omitted property:LimitCORE 'inside.limits.core' "${options[@]}"
    omitted property:LimitFSIZE 'inside.limits.fsize' "${options[@]}"
    omitted property:LimitSIGPENDING 'inside.limits.sigpending' "${options[@]}"
    omitted property:TemporaryFileSystem 'could not set up mount namespaces' "${options[@]}"
    omitted property:BindReadOnlyPaths 'could not set up mount namespaces' "${options[@]}"
    omitted property:BindPaths "inside.roots.$PWD/out: " "${options[@]}"
    omitted property:InaccessiblePaths "inside.masks.$PWD/.git/maco: is still visible" "${options[@]}"
    options=(--profile offline-write --write .)
    control "${options[@]}"
    omitted property:ReadOnlyPaths "inside.roots.$PWD/.git: " "${options[@]}"
}

# Orders to the manager without a trace inside: systemd's own word is what there is.
test_properties_that_are_read_back() {
    new_repo
    local property
    # KillMode is left out here: its default is what is asked for.
    for property in KillSignal OOMPolicy StandardOutput StandardError UMask \
        IgnoreSIGPIPE NoNewPrivileges KeyringMode RuntimeMaxUSec TimeoutStopUSec Type; do
        omitted "property:$property" "properties.$property: is "
    done
    maco-run-omit --omit property:CollectMode -- true 2>"$test_dir/err" && fail "released"
    expect_err 'properties.CollectMode: is '
    systemctl --user reset-failed 'maco-run-*' # what it is asked for
}

test_steps_of_the_guardian() {
    new_repo
    control
    omitted step:namespaces,step:drop-privilege 'inside.namespaces.pid: '
    omitted step:proc "'/proc' (proc) is writable"
    omitted step:devpts "'/dev/pts' (devpts) is writable"
    omitted step:drop-privilege 'inside.status.CapEff: '
    omitted step:user-limits 'inside.limits.inotify_instances.'
    omitted step:filter 'inside.probes.socket-inet: is 0'
    # The unit, systemd's own filter and the guardian each set it; no filter can be loaded without.
    omitted property:NoNewPrivileges,property:PrivateDevices,property:ProtectKernelTunables,step:no-new-privs,step:filter,step:drop-privilege \
        'inside.status.NoNewPrivs: '
}

test_masks_and_private_directories() {
    new_repo
    control
    omitted "mask:$PWD/.git/maco" "inside.masks.$PWD/.git/maco: is still visible"
    local path
    for path in /dev/shm /home /root /var/tmp; do
        omitted "private:$path" "'$path' is not an empty file system of the run's own"
    done
    omitted private:/tmp 'create the private home'
    omitted private:/run 'could not set up mount namespaces'
}

# The probe that sees a call left out: the call's own name, but for these.
declare -A probes=([open]=setuid-open [ioctl]=tiocsti-high-bits [socket]=socket-unix [accept]=accept-old
    [accept4]=accept [socketpair]=socketpair-datagram [clone]=clone-user [creat]=setuid-creat
    [chmod]=setuid-chmod [fchmod]=setuid-fchmod [fchmodat]=setuid-fchmodat [fchmodat2]=setuid-fchmodat2
    [openat]=setuid-create [mknod]=mkfifo-old [mknodat]=mkfifo [umount2]=umount [unshare]=unshare-user
    [renameat2]=rename-whiteout [fcntl]=lease [io_uring_setup]=io-uring)

# A few calls at once, each with a complaint of its own; probes do not depend on one another.
test_calls_of_the_filter() {
    new_repo
    control
    local call calls probe batch i
    mapfile -t calls < <(maco-run-omit --list-calls)
    ((${#calls[@]} > 90)) || fail "too few calls"
    for ((i = 0; i < ${#calls[@]}; i += 16)); do
        batch=("${calls[@]:i:16}")
        omitted "$(printf 'syscall:%s,' "${batch[@]}" | sed 's/,$//')" 'inside.probes.'
        for call in "${batch[@]}"; do
            probe=${probes[$call]:-${call//_/-}}
            jq -e --arg probe "inside.probes.$probe: is " 'any(.reasons[]; startswith($probe))' \
                "$test_dir/evidence.json" >/dev/null || fail "$call left out, and no complaint of $probe"
        done
        # Nothing else complains than probes of these calls.
        jq -e 'all(.reasons[]; startswith("inside.probes."))' "$test_dir/evidence.json" >/dev/null
    done
    omitted syscall:newer 'inside.probes.foreign-abi: '
    # Where the kernel has another ABI at all, its being open is seen too.
    if [[ $(maco-run --json -- true | jq '.requested.probes["old-abi"]') == 1 && -e /proc/sys/abi/vsyscall32 ]]; then
        omitted syscall:foreign 'inside.probes.old-abi: '
    fi
}

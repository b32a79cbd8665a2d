# Hostile: privileged kernel interfaces and System V and POSIX objects (RUN-07, RUN-08). As root, for
# controls of what the host forbids to the user anyway.
# guest: -u root --cmdline secretmem.enable=y
# engines: qemu host
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# A module that nothing needs.
a_module() {
    find "/usr/lib/uml/modules/$(uname -r)" "/lib/modules/$(uname -r)" -name nls_ascii.ko 2>/dev/null | head -n 1
}

test_privileged_calls() {
    new_repo
    local parameters=("module=$(a_module)" "file=/tmp/hostile-file"
        "kernel=$(find /boot -name 'vmlinuz*' | head -n 1)" tty=/dev/tty1)
    local as_root=(bpf perf kexec-load kexec-file-load init-module delete-module finit-module
        delete-module-again open-by-handle swapon swapoff reboot syslog acct vhangup iopl ioperm
        settimeofday clock-settime process-madvise console-input)
    local by_user=(userfaultfd add-key request-key put-key find-key quotactl fanotify adjtimex
        clock-adjtime personality memfd-secret kcmp sysfs ustat lease aio-context)
    echo x >/tmp/hostile-file
    attack kernel_calls "${parameters[@]}" "${as_root[@]}" "${by_user[@]}"
    stopped_by <<'TABLE'
bpf                  EACCES  filter:bpf capabilities
perf                 EPERM   filter:perf-event-open
kexec-load           EACCES  filter:kexec-load capabilities
kexec-file-load      EACCES  filter:kexec-file-load capabilities
init-module          EACCES  filter:init-module capabilities
delete-module        EACCES  filter:delete-module capabilities
finit-module         EACCES  filter:finit-module capabilities
delete-module-again  EACCES  filter:delete-module capabilities
open-by-handle       ENOENT  private:/tmp filter:open-by-handle-at
swapon               EPERM   filter:swapon capabilities
swapoff              EACCES  filter:swapoff capabilities
reboot               EACCES  filter:reboot capabilities
syslog               EACCES  filter:syslog capabilities
acct                 EACCES  filter:acct capabilities
vhangup              EACCES  filter:vhangup capabilities
iopl                 EACCES  filter:iopl capabilities
ioperm               EACCES  filter:ioperm capabilities
settimeofday         EPERM   filter:settimeofday capabilities
clock-settime        EPERM   filter:clock-settime capabilities
process-madvise      EPERM   filter:process-madvise
console-input        ENOENT  private:/run
userfaultfd          EPERM   filter:userfaultfd
add-key              EPERM   filter:add-key
request-key          EPERM   filter:request-key
put-key              EPERM   filter:add-key
find-key             EPERM   filter:keyctl
quotactl             EPERM   filter:quotactl
fanotify             EPERM   filter:fanotify-init
adjtimex             EPERM   filter:adjtimex
clock-adjtime        EPERM   filter:clock-adjtime
personality          EPERM   filter:personality
memfd-secret         EPERM   filter:memfd-secret
kcmp                 EPERM   filter:kcmp
sysfs                EPERM   filter:sysfs
ustat                EPERM   filter:ustat
lease                EPERM   filter:lease
aio-context          EPERM   filter:io-setup
TABLE
    control_as_root kernel_calls "${parameters[@]}" "${as_root[@]}" <<'TABLE'
perf uml the kernel is built without it
kexec-load uml the kernel is built without it
kexec-file-load uml the kernel is built without it
swapon both the guest has no disk to swap on
swapoff both the guest has no disk to swap on
iopl uml user-mode Linux has no ports
ioperm uml user-mode Linux has no ports
console-input uml user-mode Linux has no virtual console
TABLE
    control kernel_calls "${by_user[@]}" <<'TABLE'
memfd-secret uml the architecture has none
kcmp uml the kernel is built without it
TABLE
    all_controlled
    # Not the filter alone: without it the missing capabilities stop what needs one.
    layers_off step:filter kernel_calls "${parameters[@]}" "${as_root[@]}" <<'TABLE'
bpf both needs CAP_BPF
perf both perf_event_paranoid
kexec-load both needs CAP_SYS_BOOT
kexec-file-load both needs CAP_SYS_BOOT
init-module both needs CAP_SYS_MODULE
delete-module both needs CAP_SYS_MODULE
finit-module both needs CAP_SYS_MODULE
delete-module-again both needs CAP_SYS_MODULE
open-by-handle both not there
swapon both needs CAP_SYS_ADMIN
swapoff both needs CAP_SYS_ADMIN
reboot both needs CAP_SYS_BOOT
syslog both needs CAP_SYSLOG
acct both needs CAP_SYS_PACCT
vhangup both needs CAP_SYS_TTY_CONFIG
iopl both needs CAP_SYS_RAWIO
ioperm both needs CAP_SYS_RAWIO
settimeofday both needs CAP_SYS_TIME
clock-settime both needs CAP_SYS_TIME
process-madvise both needs CAP_SYS_NICE
console-input both not there
TABLE
    rm /tmp/hostile-file
}

# A handle of a file inside, so that the call is tried and not only its preparation.
test_open_by_handle_inside() {
    new_repo
    put kernel_calls
    : >"$test_dir/controlled"
    run -- sh -c 'echo x >/tmp/f; ./hostile-kernel_calls file=/tmp/f open-by-handle'
    cp "$test_dir/out" "$test_dir/attacked"
    echo "open-by-handle EACCES filter:open-by-handle-at capabilities" | stopped_by
    echo x >/tmp/f
    control_as_root kernel_calls file=/tmp/f open-by-handle </dev/null
    all_controlled
    rm /tmp/f
}

test_objects_of_ipc() {
    new_repo
    as_user "$bin/hostile/outer_objects" make
    local attempts=(shm-new sem-new msg-new shm-outer sem-outer msg-outer mq-new mq-outer)
    attack kernel_calls "${attempts[@]}"
    stopped_by <<'TABLE'
shm-new    EPERM  filter:shmget
sem-new    EPERM  filter:semget
msg-new    EPERM  filter:msgget
shm-outer  EPERM  filter:shmget namespace:ipc
sem-outer  EPERM  filter:semget namespace:ipc
msg-outer  EPERM  filter:msgget namespace:ipc
mq-new     EPERM  filter:mq-open
mq-outer   EPERM  filter:mq-open namespace:ipc
TABLE
    control kernel_calls "${attempts[@]}" </dev/null
    all_controlled
    layers_off step:filter,step:landlock,property:PrivateIPC kernel_calls "${attempts[@]}" </dev/null
    layers_off step:filter,step:landlock kernel_calls shm-outer sem-outer msg-outer mq-outer <<'TABLE'
shm-outer both the IPC namespace
sem-outer both the IPC namespace
msg-outer both the IPC namespace
mq-outer both the IPC namespace
TABLE
    as_user "$bin/hostile/outer_objects" remove
}

# The privileged controls of t1201 and t1205.
test_controls_that_only_root_can_give() {
    new_repo
    put network
    put files
    "./hostile-network" family-17 raw-icmp >"$test_dir/control"
    expect_worked "$test_dir/control" </dev/null
    if [[ $engine == qemu ]]; then
        # 15, key: the module is not in a cloud kernel's reach of every user, nor of root here.
        "./hostile-network" family-44 >"$test_dir/control"
        expect_worked "$test_dir/control" </dev/null
    fi
    mkdir /tmp/hostile.root
    echo x >/tmp/hostile.root/file
    "./hostile-files" dir=/tmp/hostile.root file=/tmp/hostile.root/file mknod-null mknod-disk >"$test_dir/control"
    expect_worked "$test_dir/control" </dev/null
    rm -r /tmp/hostile.root
}

# The kernel starts a handler of core dumps as root, outside, whatever of 0 a limit is; not with 1.
test_core_dumps_start_no_handler() {
    new_repo
    put resources
    local before
    before=$(cat /proc/sys/kernel/core_pattern)
    cat >"$test_dir/handler" <<HANDLER
#!/bin/sh
cat >/dev/null
echo "\$1" >>"$test_dir/handled"
HANDLER
    chmod 755 "$test_dir" "$test_dir/handler"
    echo "|$test_dir/handler %e" >/proc/sys/kernel/core_pattern
    run -- ./hostile-resources dir=/tmp core
    echo "core stopped ENODATA" | diff - "$test_dir/out" || status=bad
    expect_publishable
    [[ ! -e $test_dir/handled ]] || status=handled
    # The control: without the limit the same crash starts it.
    maco-run-omit --omit property:LimitCORE --no-gate -- ./hostile-resources dir=/tmp core \
        >"$test_dir/control" 2>&1 </dev/null || true
    local i
    for i in $(seq 50); do [[ ! -e $test_dir/handled ]] || break; sleep 0.1; done
    echo "$before" >/proc/sys/kernel/core_pattern
    expect_status 1 || return
    [[ -e $test_dir/handled ]] || fail "the control starts no handler"
}

# Hostile: system calls of other architectures, which a filter for one of them would not see (RUN-07).
# engines: qemu host
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

test_other_architectures() {
    new_repo
    attack foreign_abi
    stopped_by <<'TABLE'
i386-getpid   EPERM   filter:old-abi
i386-socket   EPERM   filter:old-abi
i386-unshare  EPERM   filter:old-abi
x32-getpid    ENOSYS  filter:foreign-abi
x32-socket    ENOSYS  filter:foreign-abi
TABLE
    control foreign_abi <<'TABLE'
x32-getpid both the kernel is built without x32; with it the number is above the filter's last
x32-socket both the kernel is built without x32; with it the number is above the filter's last
TABLE
    all_controlled
    layers_off syscall:foreign foreign_abi i386-getpid i386-unshare </dev/null
}

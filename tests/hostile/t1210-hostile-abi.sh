# Hostile: system calls of other architectures, which a filter for one of them would not see (RUN-07).
# engines: qemu host
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

test_other_architectures() {
    new_repo
    if [[ $engine == uml ]]; then
        # User-mode Linux runs no 32-bit code: the process dies, with or without the filter.
        attack foreign_abi
        stopped_by <<'TABLE'
i386-getpid   SIGSEGV  kernel filter:old-abi
i386-socket   SIGSEGV  kernel filter:old-abi
i386-unshare  SIGSEGV  kernel filter:old-abi
x32-getpid    ENOSYS   filter:foreign-abi
x32-socket    ENOSYS   filter:foreign-abi
TABLE
    else
        attack foreign_abi
        stopped_by <<'TABLE'
i386-getpid   EPERM   filter:old-abi
i386-socket   EPERM   filter:old-abi
i386-unshare  EPERM   filter:old-abi
x32-getpid    ENOSYS  filter:foreign-abi
x32-socket    ENOSYS  filter:foreign-abi
TABLE
    fi
    control foreign_abi <<'TABLE'
i386-getpid uml runs no 32-bit code
i386-socket uml runs no 32-bit code
i386-unshare uml runs no 32-bit code
x32-getpid both the kernel is built without x32; with it the number is above the filter's last
x32-socket both the kernel is built without x32; with it the number is above the filter's last
TABLE
    all_controlled
    if [[ $engine != uml ]]; then
        layers_off syscall:foreign foreign_abi i386-getpid i386-unshare </dev/null
    fi
}

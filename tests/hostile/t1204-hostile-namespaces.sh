# Hostile: namespaces, mounts by the old and the new interface, chroot (RUN-07).
# engines: qemu host
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

test_namespaces() {
    new_repo
    local attempts=() name
    for name in user mnt pid net ipc uts cgroup; do attempts+=("unshare-$name" "clone-$name"); done
    attempts+=(unshare-time clone3-user)
    attack namespaces "${attempts[@]}"
    for name in user mnt pid net ipc uts cgroup; do
        echo "unshare-$name EPERM filter:unshare-user filter:unshare-mount"
        echo "clone-$name EPERM filter:clone-user"
    done >"$test_dir/rows"
    stopped_by <<TABLE
$(cat "$test_dir/rows")
unshare-time  EPERM   filter:unshare-user
clone3-user   ENOSYS  filter:clone3
TABLE
    control namespaces "${attempts[@]}" <<'TABLE'
unshare-time uml the kernel has no time namespaces
TABLE
    all_controlled
}

test_mounts() {
    new_repo
    local attempts=(mount-tmpfs mount-bind umount pivot-root open-tree move-mount fsmount fspick
        mount-setattr chroot setns)
    attack namespaces dir=/tmp "${attempts[@]}"
    stopped_by <<'TABLE'
mount-tmpfs    EPERM  filter:mount filter:unshare-user capabilities
mount-bind     EPERM  filter:mount filter:unshare-user capabilities
umount         EPERM  filter:umount filter:unshare-user capabilities
pivot-root     EACCES filter:pivot-root filter:unshare-user capabilities
open-tree      EPERM  filter:open-tree filter:unshare-user capabilities
move-mount     EACCES filter:move-mount filter:unshare-user capabilities
fsmount        EACCES filter:fsopen filter:fsconfig filter:fsmount capabilities
fspick         EACCES filter:fspick filter:unshare-user capabilities
mount-setattr  EPERM  filter:mount-setattr filter:unshare-user capabilities
chroot         EPERM  filter:chroot filter:unshare-user capabilities
setns          EPERM  filter:setns filter:unshare-user capabilities
TABLE
    mkdir "$HOME/dir"
    control namespaces "dir=$HOME/dir" "${attempts[@]}" </dev/null
    all_controlled
    layers_off step:filter,step:landlock namespaces dir=/tmp "${attempts[@]}" </dev/null
}

# Mounts of ours are locked in every lower namespace, see mount_namespaces(7): also without the filter
# nothing comes off and nothing becomes writable. No control can work: the lock is the kernel's.
test_what_is_mounted_stays() {
    new_repo
    local place places=("$PWD" "$PWD/.git/maco" /run /home /sys /sys/fs/cgroup /proc/sys /dev/pts)
    local attempts=()
    for place in "${places[@]}"; do attempts+=("uncover:$place" "rw:$place"); done
    local list
    list=places=$(IFS=, && echo "${places[*]}")
    attack namespaces "$list" "${attempts[@]}"
    for place in "${places[@]}"; do
        echo "uncover:$place EPERM filter:umount filter:unshare-user capabilities"
        echo "rw:$place EPERM filter:mount filter:unshare-user capabilities"
    done | stopped_by
    printf '%s both locked by the kernel\n' "${attempts[@]}" |
        layers_off step:filter,step:landlock namespaces "$list" "${attempts[@]}"
    all_controlled
}

# Hostile: services of the user's session and of the machine, by their sockets (RUN-09, RUN-15).
# guest: -u root
# engines: qemu host
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

runtime=/run/user/$(id -u "$user")

# Sockets that stand for services which the guest does not have; some it has.
stood_in=()
stand_in() { # PATH...
    local path
    for path; do
        [[ ! -S $path ]] || continue
        mkdir -p "${path%/*}"
        stood_in+=("$path")
        serve unix "pack_sockaddr_un(\"$path\")"
        chmod 666 "$path"
        [[ $path != "$runtime"/* ]] || chown -R "$user:" "${path%/*}"
    done
}

test_sockets_of_services() {
    new_repo
    local agent stand_ins=(
        "$runtime/docker.sock" "$runtime/podman/podman.sock" "$runtime/containerd/containerd.sock"
        "$runtime/keyring/ssh" "$runtime/gnupg/S.gpg-agent" "$runtime/wayland-0"
        /run/docker.sock /run/podman/podman.sock /run/containerd/containerd.sock
        /nix/var/nix/daemon-socket/socket /run/snapd.socket /tmp/ssh-agent/agent.1
    )
    stand_in "${stand_ins[@]}"
    as_user ssh-agent -a "$runtime/agent.sock" >"$test_dir/agent"
    local sockets=("$runtime/bus" "$runtime/systemd/private" /run/dbus/system_bus_socket
        /run/systemd/private /run/systemd/journal/stdout "$runtime/agent.sock" "${stand_ins[@]}")
    attack services "${sockets[@]}"
    stopped_by <<TABLE
$runtime/bus                     EPERM  filter:socket-unix filter:connect mask:$runtime/bus private:/run
$runtime/systemd/private         EPERM  filter:socket-unix filter:connect mask:$runtime/systemd private:/run
/run/dbus/system_bus_socket      EPERM  filter:socket-unix filter:connect mask:/run/dbus private:/run
/run/systemd/private             EPERM  filter:socket-unix filter:connect mask:/run/systemd private:/run
/run/systemd/journal/stdout      EPERM  filter:socket-unix filter:connect mask:/run/systemd private:/run
$runtime/agent.sock              EPERM  filter:socket-unix filter:connect private:/run
$runtime/docker.sock             EPERM  filter:socket-unix filter:connect mask:$runtime/docker.sock private:/run
$runtime/podman/podman.sock      EPERM  filter:socket-unix filter:connect mask:$runtime/podman private:/run
$runtime/containerd/containerd.sock EPERM filter:socket-unix filter:connect mask:$runtime/containerd private:/run
$runtime/keyring/ssh             EPERM  filter:socket-unix filter:connect mask:$runtime/keyring private:/run
$runtime/gnupg/S.gpg-agent       EPERM  filter:socket-unix filter:connect mask:$runtime/gnupg private:/run
$runtime/wayland-0               EPERM  filter:socket-unix filter:connect mask:$runtime/wayland-0 private:/run
/run/docker.sock                 EPERM  filter:socket-unix filter:connect mask:/run/docker.sock private:/run
/run/podman/podman.sock          EPERM  filter:socket-unix filter:connect mask:/run/podman private:/run
/run/containerd/containerd.sock  EPERM  filter:socket-unix filter:connect mask:/run/containerd private:/run
/nix/var/nix/daemon-socket/socket EPERM filter:socket-unix filter:connect mask:/nix/var/nix/daemon-socket
/run/snapd.socket                EPERM  filter:socket-unix filter:connect mask:/run/snapd.socket private:/run
/tmp/ssh-agent/agent.1           EPERM  filter:socket-unix filter:connect private:/tmp
TABLE
    control services "${sockets[@]}" <<'TABLE'
/run/systemd/private both PID 1 lets only root connect, see the next control
TABLE
    control_as_root services /run/systemd/private </dev/null
    all_controlled
    # Without the filter the masks and covers alone stop every one of them.
    local socket
    for socket in "${sockets[@]}"; do echo "$socket both masked or covered"; done |
        layers_off step:filter services "${sockets[@]}"
    # Without filter and mask the service answers, and nothing else stood in the way.
    layers_off step:filter,mask:/nix/var/nix/daemon-socket services \
        /nix/var/nix/daemon-socket/socket </dev/null
    stop_servers
    eval "$(cat "$test_dir/agent")"
    kill "$SSH_AGENT_PID"
    rm -rf "${stood_in[@]}" /nix /tmp/ssh-agent
}

# What an attacker would type. It must leave no trace outside; outside it does.
orders='
    export XDG_RUNTIME_DIR=$1 DBUS_SESSION_BUS_ADDRESS=unix:path=$1/bus SSH_AUTH_SOCK=$1/agent.sock
    systemd-run --user --wait -q touch "$2/by-systemd-run" && echo worked
    systemd-run --user --scope -q touch "$2/by-scope" && echo worked
    systemctl --user --no-pager list-units && echo worked
    systemctl --user set-environment HOSTILE=1 && echo worked
    busctl --user call org.freedesktop.systemd1 /org/freedesktop/systemd1 \
        org.freedesktop.systemd1.Manager Reexecute && echo worked
    busctl --system list && echo worked
    dbus-send --session --dest=org.freedesktop.DBus --print-reply / org.freedesktop.DBus.ListNames && echo worked
    timeout 10 ssh-add -l; [ $? = 1 ] && echo worked # 1: no keys, 2: no agent
    true'

test_orders_to_the_user_manager() {
    new_repo
    as_user ssh-agent -a "$runtime/agent.sock" >"$test_dir/agent"
    mkdir "$HOME/left" && chmod 777 "$HOME/left"
    run -- sh -c "$orders" sh "$runtime" "$HOME/left"
    expect_status 0
    expect_publishable
    ! grep -q worked "$test_dir/out" || fail "an order was obeyed"
    [[ -z $(ls "$HOME/left") ]] || fail "something was left behind"
    ! systemctl --user show-environment | grep -q HOSTILE || fail "the environment was changed"
    expect_nothing_left
    as_user sh -c "$orders" sh "$runtime" "$HOME/left" >"$test_dir/control" 2>&1
    # By user manager, twice; the scope needs a process of the user manager (t1003), the rest answers.
    [[ -e $HOME/left/by-systemd-run ]] || fail "the control of systemd-run does not work"
    (($(grep -cx worked "$test_dir/control") >= 6)) || fail "controls do not work: $(cat "$test_dir/control")"
    systemctl --user unset-environment HOSTILE
    eval "$(cat "$test_dir/agent")"
    kill "$SSH_AGENT_PID"
}

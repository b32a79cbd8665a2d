# Hostile: the network by every family, AF_UNIX in every way, io_uring (RUN-07, RUN-08).
# engines: qemu host
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

test_a_socket_of_every_family() {
    new_repo
    local families=() family
    for family in $(seq 45); do families+=("family-$family"); done
    attack network "${families[@]}"
    printf '%s EPERM filter:socket-inet filter:socket-unix filter:socket-netlink namespace:net\n' \
        "${families[@]}" | stopped_by
    # Families for which an ordinary user gets a socket here. The others are unknown to the kernel
    # (EAFNOSUPPORT, whoever asks) or need a privilege: 15 key, 17 packet, 44 xdp; those have their
    # control in t1206, as root. Unknown here: the rest.
    local known="1 2 16"
    [[ $engine == uml ]] || known="1 2 10 16 38 40 41 43"
    for family in $(seq 45); do
        [[ " $known " == *" $family "* ]] && continue
        case $family in
        15 | 17 | 44) echo "family-$family both for root only" ;;
        *) echo "family-$family both not in this kernel" ;;
        esac
    done | control network "${families[@]}"
    all_controlled
}

test_internet_addresses() {
    new_repo
    serve inet 'pack_sockaddr_in(7101, INADDR_LOOPBACK)'
    serve inet-datagram 'pack_sockaddr_in(7101, INADDR_LOOPBACK)'
    attack network port=7101 tcp-connect tcp-listen udp-exchange raw-icmp
    stopped_by <<'TABLE'
tcp-connect   EPERM  filter:socket-inet filter:connect namespace:net
tcp-listen    EPERM  filter:socket-inet filter:bind filter:listen namespace:net
udp-exchange  EPERM  filter:socket-inet namespace:net
raw-icmp      EPERM  filter:socket-inet namespace:net capabilities
TABLE
    control network port=7101 tcp-connect tcp-listen udp-exchange raw-icmp <<'TABLE'
raw-icmp both needs CAP_NET_RAW, see t1206
TABLE
    all_controlled
    # Either layer alone stops it: without the filter the loopback is another one, and down.
    layers_off step:filter,property:PrivateNetwork network port=7101 tcp-connect udp-exchange </dev/null
    layers_off step:filter network port=7101 tcp-connect udp-exchange <<'TABLE'
tcp-connect both the network namespace has no way out
udp-exchange both the network namespace has no way out
TABLE
    layers_off property:PrivateNetwork network port=7101 tcp-connect udp-exchange <<'TABLE'
tcp-connect both the filter denies socket
udp-exchange both the filter denies socket
TABLE
    stop_servers
}

test_unix_sockets() {
    new_repo
    serve unix 'pack_sockaddr_un("$ENV{HOME}/s")'
    serve unix 'pack_sockaddr_un("\0hostile-abstract")'
    serve unix-datagram 'pack_sockaddr_un("$ENV{HOME}/d")'
    serve unix-datagram 'pack_sockaddr_un("\0hostile-datagram")'
    local arguments=("path=$HOME/s" "datagram=$HOME/d" abstract=hostile-abstract
        abstract-datagram=hostile-datagram)
    attack unix_sockets "${arguments[@]}"
    stopped_by <<'TABLE'
path-connect         EPERM       filter:socket-unix filter:connect private:/home
abstract-connect     EPERM       filter:socket-unix filter:connect namespace:net
path-send            EPERM       filter:socket-unix private:/home
abstract-send        EPERM       filter:socket-unix namespace:net
pair-connect         EPERM       filter:connect private:/home
pair-send            EPERM       filter:socketpair-datagram private:/home
pair-raw-send        EPERM       filter:socketpair-raw private:/home
pair-stream-send     EISCONN     kernel filter:connect
pair-seqpacket-send  IGNORED     kernel filter:connect
path-serve           EPERM       filter:socket-unix filter:bind filter:listen
abstract-serve       EPERM       filter:socket-unix filter:bind filter:listen
TABLE
    control unix_sockets "${arguments[@]}" <<'TABLE'
pair-connect both the kernel lets no connected socket connect again
pair-stream-send both the kernel sends to the other end only
pair-seqpacket-send both the kernel sends to the other end only
TABLE
    all_controlled
    layers_off step:filter,property:PrivateNetwork unix_sockets "${arguments[@]}" \
        abstract-connect abstract-send </dev/null
    layers_off step:filter unix_sockets "${arguments[@]}" path-connect path-send abstract-connect \
        abstract-send <<'TABLE'
path-connect both covered
path-send both covered
abstract-connect both the network namespace
abstract-send both the network namespace
TABLE
    stop_servers
}

test_io_uring() {
    new_repo
    options=(--profile offline-write --write .)
    attack io_uring file=file link=file-2
    stopped_by <<'TABLE'
uring-setup   EPERM  filter:io-uring filter:io-uring-enter filter:io-uring-register
uring-socket  EPERM  filter:io-uring namespace:net
uring-link    EPERM  filter:io-uring
TABLE
    layers_off syscall:io_uring_setup,syscall:io_uring_enter io_uring file=file link=file-2 </dev/null
    all_controlled
    # The point of denying it: the other rules are all in force, and do not help.
    [[ $(stat -c %h file) == 2 ]]
}

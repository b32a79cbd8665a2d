# Functions for hostile tests: attacks inside a run, the layers that stopped them, controls outside.
# Sourced by tests/hostile/t*.sh, after tests/vm/lib.sh.
#
# A test: attack PROGRAM ARGUMENT..., then stopped_by with a table, then control (or layers_off, or
# control_as_root) until every attempt has had one. all_controlled compares; a control that does not
# work fails the test, unless a table says why none can.

hostile=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
engine=$(sed -n 's/.*guest\.engine=\([a-z]*\).*/\1/p' /proc/cmdline)
engine=${engine:-host}
options=() # of maco-run, for attack and layers_off
user=maco

# --- running as root: what belongs to the user is done as the user ----------------------------

if ((EUID == 0)); then
    as_user() {
        setpriv --reuid="$user" --regid="$user" --init-groups env HOME="$HOME" USER="$user" \
            LOGNAME="$user" XDG_RUNTIME_DIR="/run/user/$(id -u "$user")" "$@"
    }
    # The home of root is closed to the user.
    test_dir=$(as_user mktemp -d "/home/$user/test.XXXXXX")
    trap 'rm -rf "$test_dir"' EXIT
    export HOME=$test_dir/home
    as_user mkdir "$HOME"
    cd "$HOME" || exit
    for program in git git-maco maco-run maco-run-omit systemctl; do
        eval "$program() { as_user $program \"\$@\"; }"
    done
else
    as_user() { "$@"; }
fi

# --- attacks -----------------------------------------------------------------------------------

# What a run must leave as it was; maco's own state, the test's notes and ./scratch are left out.
fingerprint() {
    {
        find "$HOME" '(' -path '*/.git/maco' -o -path "$PWD/scratch" ')' -prune -o -printf '%p %y %m %n %s %T@ %l\n'
        find /tmp /var/tmp /dev/shm /dev/mqueue -printf '%p %y %m %n %l\n' 2>/dev/null
        find "/sys/fs/cgroup/user.slice/user-$(id -u "$user").slice" -type d 2>/dev/null
        wc -l /proc/sysvipc/{shm,sem,msg} 2>/dev/null
        systemctl --user list-units --all --plain --no-legend | awk '{ print $1, $3, $4 }'
    } | grep -vE '(dbus\.(service|socket)|session\.slice)' | sort # start when first used
}

# put PROGRAM: a hostile program into the workspace, where a run can see it.
put() {
    [[ -e hostile-$1 ]] || as_user cp "$bin/hostile/$1" "hostile-$1"
}

# Runs a hostile program inside; the host must be the same afterwards.
attack() { # PROGRAM ARGUMENT...
    put "$1"
    : >"$test_dir/controlled"
    fingerprint >"$test_dir/before"
    run "${options[@]}" -- "./hostile-$1" "${@:2}"
    cp "$test_dir/out" "$test_dir/attacked"
    fingerprint >"$test_dir/after"
    diff "$test_dir/before" "$test_dir/after" || fail "the host is not as it was"
    expect_nothing_left
}

# stopped_by <TABLE: one line "ATTEMPT WHY LAYER..." for each attempt of the attack, and no other.
# Each layer must be shown in force by the evidence of the run (layers.jq).
stopped_by() {
    local complaints
    grep -v '^#' >"$test_dir/table"
    complaints=$(jq -r --rawfile table "$test_dir/table" --rawfile output "$test_dir/attacked" \
        -f "$hostile/layers.jq" "$test_dir/evidence.json") || fail "no evidence"
    [[ -z $complaints ]] || fail "$complaints"
    expect_status 1
    expect_publishable
}

# --- controls ------------------------------------------------------------------------------------

# Reads lines "ATTEMPT ENGINE REASON" from standard input: attempts for which no control can work on
# that engine (uml, qemu, or both), and why. Everything else in the output must have worked.
expect_worked() { # FILE
    local name engines reason verdict
    local -A excused=()
    while read -r name engines reason; do
        [[ -n $reason ]] || fail "no reason for '$name'" || return
        [[ $engines == both || $engines == "$engine" ]] && excused[$name]=$reason
    done < <(grep -v '^#' || true)
    while read -r name verdict; do
        echo "$name" >>"$test_dir/controlled"
        if [[ -n ${excused[$name]-} ]]; then
            [[ $verdict != worked ]] || fail "$name works here: the table of controls is wrong" || return
        else
            [[ $verdict == worked ]] || fail "the control of $name does not work: $verdict" || return
        fi
    done <"$1"
}

# The same program outside, as the same user.
control() { # PROGRAM ARGUMENT... <EXCEPTIONS
    put "$1"
    as_user "./hostile-$1" "${@:2}" >"$test_dir/control" 2>"$test_dir/control-err" </dev/null || true
    expect_worked "$test_dir/control"
}

# The same program outside, as root: where the host forbids it to the user anyway.
control_as_root() { # PROGRAM ARGUMENT... <EXCEPTIONS
    put "$1"
    "./hostile-$1" "${@:2}" >"$test_dir/control" 2>"$test_dir/control-err" </dev/null || true
    expect_worked "$test_dir/control"
}

# The same program in a run without the layers, released although the gate refuses.
layers_off() { # LAYER[,LAYER]... PROGRAM ARGUMENT... <EXCEPTIONS
    put "$2"
    maco-run-omit --omit "$1" --no-gate --evidence-fd 9 "${options[@]}" -- "./hostile-$2" "${@:3}" \
        >"$test_dir/control" 2>"$test_dir/err" 9>"$test_dir/evidence-off.json" </dev/null || true
    [[ -s $test_dir/control ]] || fail "nothing ran with $1 left out" || return
    expect_worked "$test_dir/control"
    [[ $(jq .publishable "$test_dir/evidence-off.json") == false ]] || fail "publishable without $1"
}

# Every attempt of the last attack has had a control.
all_controlled() {
    diff <(cut -d' ' -f1 "$test_dir/attacked" | sort) <(sort -u "$test_dir/controlled") ||
        fail "attempts without a control (<), controls without an attempt (>)"
}

# --- what attacks look for ------------------------------------------------------------------------

# A server that sends "reached" to whoever connects; it ends with the test.
serve() { # KIND ADDRESS: KIND inet, inet-datagram, unix, unix-datagram; ADDRESS in Perl
    perl -MSocket -e '
        $SIG{CHLD} = $SIG{PIPE} = "IGNORE"; # a client may be gone before it is answered
        my ($kind, $address) = @ARGV;
        my $type = $kind =~ /datagram/ ? SOCK_DGRAM : SOCK_STREAM;
        socket(my $server, $kind =~ /unix/ ? AF_UNIX : AF_INET, $type, 0) or die $!;
        bind($server, eval $address) or die "$address: $! $@";
        $type == SOCK_DGRAM or listen($server, 9) or die $!;
        syswrite STDOUT, "ready\n";
        close STDOUT;
        while (1) {
            if ($type == SOCK_STREAM) {
                accept(my $client, $server) or next;
                syswrite $client, "reached";
                close $client;
            } else {
                my $from = recv($server, my $got, 100, 0);
                send($server, "reached", 0, $from) if $from && $kind =~ /inet/;
            }
        }' "$1" "$2" >"$test_dir/server-${#servers[@]}" 2>&1 &
    until [[ -s $test_dir/server-${#servers[@]} ]]; do sleep 0.05; done
    grep -qx ready "$test_dir/server-${#servers[@]}" || fail "$(cat "$test_dir/server-${#servers[@]}")"
    servers+=($!)
}
servers=()

stop_servers() {
    ((${#servers[@]} == 0)) || kill "${servers[@]}"
    servers=()
}

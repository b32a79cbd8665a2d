# maco-run when its user manager dies, before the gate and after: no process is left, nothing is
# publishable, and the next run with a new manager works (RUN-11).
# guest: -u root

as_maco() {
    setpriv --reuid=maco --regid=maco --init-groups env HOME=/home/maco PATH="$PATH" \
        XDG_RUNTIME_DIR="/run/user/$(id -u maco)" "$@"
}

test_the_manager_is_killed() {
    local uid place=/home/maco/lost
    uid=$(id -u maco)
    as_maco bash -ec "mkdir -p $place && cd $place && git init -q . &&
        git -c user.name=a -c user.email=b commit -q --allow-empty -m one && git-maco init >/dev/null"
    cd "$place"
    as_maco maco-run --evidence-fd 9 -- sleep 600 >"$test_dir/out" 2>"$test_dir/err" 9>"$test_dir/evidence.json" &
    local run=$!
    until pgrep -x sleep -u maco >/dev/null; do sleep 0.1; done
    systemctl kill -s KILL --kill-who=main "user@$uid"
    status=0
    wait "$run" || status=$?
    expect_status 122
    expect .publishable false
    expect_err 'not publishable: '
    until ! systemctl is-active -q "user@$uid"; do sleep 0.1; done
    ! pgrep -x sleep -u maco >/dev/null || fail "the target is left"
    ! pgrep -x maco-guardian >/dev/null || fail "a guardian is left"
    # Without a manager: refused, with the remedy. With a new one all is well.
    status=0
    as_maco maco-run -- true 2>"$test_dir/err" || status=$?
    expect_status 125
    expect_err 'no systemd user manager'
    systemctl start "user@$uid"
    status=0
    as_maco maco-run --evidence-fd 9 -- true 2>"$test_dir/err" 9>"$test_dir/evidence.json" || status=$?
    expect_status 0
    expect_publishable
}

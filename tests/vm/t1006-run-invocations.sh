# maco-run wherever it is called from: login shell, sudo, cron, ssh, a Git hook (RUN-01).
# guest: -u root

place=/home/maco/place

# Runs a script as the user maco by a command that takes it as its last argument.
prepare() {
    rm -rf "$place"
    cat >"$test_dir/script" <<SCRIPT
set -e
export PATH=$bin:\$PATH
cd $place/repo
maco-run --evidence-fd 9 -- sh -c 'echo inside; exit 3' 9>$place/evidence.json >$place/out 2>$place/err || echo \$? >$place/status
SCRIPT
    chmod 755 "$test_dir/script"
    cp "$test_dir/script" /home/maco/script
    chown maco: /home/maco/script
    setpriv --reuid=maco --regid=maco --init-groups env -i HOME=/home/maco PATH="$PATH" bash -ec "
        mkdir -p $place && git init -q $place/repo && cd $place/repo
        git -c user.name=a -c user.email=b commit -q --allow-empty -m one && git-maco init >/dev/null"
}

expect_a_verified_run() {
    cp "$place/out" "$place/err" "$place/evidence.json" "$test_dir" || fail "nothing ran"
    status=$(cat "$place/status")
    expect_status 3
    expect_out inside
    expect_publishable
}

test_from_a_login_shell() {
    prepare
    su - maco -c 'bash /home/maco/script'
    expect_a_verified_run
}

test_from_sudo() {
    prepare
    sudo -u maco bash /home/maco/script
    expect_a_verified_run
    prepare
    sudo -u maco -i bash /home/maco/script
    expect_a_verified_run
}

# What cron gives: no session, no terminal, and these variables.
test_from_cron() {
    prepare
    setsid -w setpriv --reuid=maco --regid=maco --init-groups env -i HOME=/home/maco LOGNAME=maco \
        SHELL=/bin/sh PATH=/usr/bin:/bin sh -c 'bash /home/maco/script' </dev/null
    expect_a_verified_run
}

test_from_ssh() {
    prepare
    install -d -o maco -g maco -m 700 /home/maco/.ssh
    dropbearkey -t ed25519 -f "$test_dir/host" >"$test_dir/log-ssh" 2>&1
    dropbearkey -t ed25519 -f "$test_dir/mine" 2>/dev/null | grep '^ssh-' >/home/maco/.ssh/authorized_keys
    chown maco: /home/maco/.ssh/authorized_keys
    chmod 600 /home/maco/.ssh/authorized_keys
    ip link set lo up 2>/dev/null || true
    dropbear -F -E -s -r "$test_dir/host" -p 127.0.0.1:2222 >>"$test_dir/log-ssh" 2>&1 &
    local server=$!
    for _ in $(seq 100); do
        grep -q 'Not backgrounding' "$test_dir/log-ssh" && break
        sleep 0.1
    done
    dbclient -y -y -i "$test_dir/mine" -p 2222 maco@127.0.0.1 'bash /home/maco/script' >>"$test_dir/log-ssh" 2>&1 ||
        { cat "$test_dir/log-ssh" && kill "$server" && return 1; }
    kill "$server"
    rm -rf /home/maco/.ssh
    expect_a_verified_run
}

# git sets GIT_DIR, GIT_INDEX_FILE and more there; none of it reaches the run.
test_from_a_hook() {
    prepare
    cat >"$place/repo/.git/hooks/pre-commit" <<HOOK
#!/bin/bash
env | grep '^GIT_' >$place/variables
cd / # GIT_DIR may be relative, git says: to the top of the worktree
cd $place/repo
export PATH=$bin:\$PATH
maco-run --evidence-fd 9 -- sh -c 'env | grep ^GIT_; echo inside; exit 3' 9>$place/evidence.json >$place/out 2>$place/err
echo \$? >$place/status
exit 0
HOOK
    chmod 755 "$place/repo/.git/hooks/pre-commit"
    su - maco -c "cd $place/repo && git -c user.name=a -c user.email=b commit -q --allow-empty -m two"
    grep -q '^GIT_INDEX_FILE=' "$place/variables" || fail "git set no variables: nothing is tested"
    expect_a_verified_run
    expect '.measurements.administrative_changes | length' 0
}

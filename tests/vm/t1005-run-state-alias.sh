# maco-run: a second mount of the state root shows the key to nobody (JRN-10).
# guest: -u root

as_maco() { setpriv --reuid=1000 --regid=1000 --init-groups env HOME=/home/maco PATH="$PATH" "$@"; }

test_a_second_mount_of_the_state_is_hidden_too() {
    mkdir -p /srv/alias
    # shellcheck disable=SC2016
    as_maco bash -ec 'git init -q ~/aliased && cd ~/aliased && git-maco init >/dev/null'
    mount --bind /home/maco/aliased/.git /srv/alias
    cd /home/maco/aliased
    as_maco cat /srv/alias/maco/key | cmp - .git/maco/key # the control: outside it can be read there
    status=0
    as_maco maco-run -- sh -c 'cat /srv/alias/maco/key || ls /srv/alias' \
        >"$test_dir/out" 2>"$test_dir/err" || status=$?
    umount /srv/alias
    expect_status 0
    expect_err "/srv/alias/maco/key: Permission denied"
    grep -qx HEAD "$test_dir/out"
}

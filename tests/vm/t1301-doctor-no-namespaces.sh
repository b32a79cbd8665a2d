# git maco doctor where user namespaces are switched off: exactly that is named (RUN-04, RUN-16).
# guest: -u root

# Root sets the limit; everything else is done by the ordinary user.
as_maco() { # SCRIPT
    setpriv --reuid maco --regid maco --init-groups env -i HOME=/home/maco PATH="$PATH" \
        MACO_BIN="$bin" XDG_RUNTIME_DIR=/run/user/1000 test_dir=/home/maco/shared bash -ec \
        'cd; . "$1"; '"$1" _ "$lib"
}

test_user_namespaces_are_switched_off() {
    lib=$(dirname "${BASH_SOURCE[0]}")/lib.sh
    mkdir /home/maco/shared
    chown maco: /home/maco/shared
    sysctl -q -w user.max_user_namespaces=0
    status=0
    as_maco 'exec git-maco doctor --json' >"$test_dir/out" 2>"$test_dir/err" || status=$?
    expect_status 1
    missing=$(jq -r '[.checks[] | select(.state == "missing") | .id] | join(" ")' "$test_dir/out")
    [[ $missing == user-namespaces ]] || fail "missing: $missing"
    jq -e '.checks[] | select(.id == "user-namespaces") |
        (.source | contains("max_user_namespaces = 0")) and
        (.fix | contains("user.max_user_namespaces"))' "$test_dir/out" >/dev/null
    jq -e '.qualifies == false and .probe.verdict == "refused" and .probe.status == 125' \
        "$test_dir/out" >/dev/null || fail "probe: $(jq -c .probe "$test_dir/out")"
    as_maco 'new_repo; run -- true; expect_status 125; expect_err "git maco doctor"'
    # The fix is one.
    sysctl -q -w user.max_user_namespaces=28633
    as_maco 'git-maco doctor --json' | jq -e .qualifies >/dev/null
}

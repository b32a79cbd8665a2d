# git maco doctor without a user manager: exactly that is named, and maco-run refuses for it (RUN-16).
# guest: --no-user-manager

test_no_user_manager() {
    status=0
    git-maco doctor --json >"$test_dir/out" 2>"$test_dir/err" || status=$?
    expect_status 1
    missing=$(jq -r '[.checks[] | select(.state == "missing") | .id] | join(" ")' "$test_dir/out")
    [[ $missing == user-manager ]] || fail "missing: $missing"
    jq -e '.qualifies == false and .probe.verdict == "refused" and .probe.status == 125 and
        (.probe.message | contains("no systemd user manager"))' "$test_dir/out" >/dev/null
    jq -e '.checks[] | select(.id == "user-manager") | .fix |
        contains("loginctl enable-linger maco")' "$test_dir/out" >/dev/null
    new_repo
    run -- true
    expect_status 125
    expect_err 'no systemd user manager'
}

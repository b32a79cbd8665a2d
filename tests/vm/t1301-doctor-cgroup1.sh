# git maco doctor on cgroup version 1: that is named, with the boot parameter that changes it (RUN-16).
# guest: --cmdline systemd.unified_cgroup_hierarchy=0

test_cgroup_version_1() {
    status=0
    git-maco doctor --json >"$test_dir/out" 2>"$test_dir/err" || status=$?
    expect_status 1
    missing=$(jq -r '[.checks[] | select(.state == "missing") | .id] | join(" ")' "$test_dir/out")
    [[ $missing == cgroup-v2 ]] || fail "missing: $missing"
    jq -e '.checks[] | select(.id == "cgroup-v2") |
        .fix | contains("systemd.unified_cgroup_hierarchy=1")' "$test_dir/out" >/dev/null
    jq -e '.probe.verdict == "refused" and (.probe.message | contains("cgroup version 2"))' \
        "$test_dir/out" >/dev/null
    new_repo
    run -- true
    expect_status 125
    expect_err 'is not cgroup version 2'
}

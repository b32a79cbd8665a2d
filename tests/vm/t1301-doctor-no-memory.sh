# git maco doctor without the memory controller: limits would be accepted and not applied (RUN-04, RUN-16).
# guest: --no-delegate memory

test_memory_is_not_delegated() {
    status=0
    git-maco doctor --json >"$test_dir/out" 2>"$test_dir/err" || status=$?
    expect_status 1
    missing=$(jq -r '[.checks[] | select(.state == "missing") | .id] | join(" ")' "$test_dir/out")
    [[ $missing == controller-memory ]] || fail "missing: $missing"
    jq -e '.checks[] | select(.id == "controller-memory") |
        (.source | contains("user@1000.service/cgroup.controllers")) and
        (.fix | contains("Delegate=cpu memory pids"))' "$test_dir/out" >/dev/null
    jq -e '.qualifies == false and .probe.verdict == "refused" and .probe.status == 125' \
        "$test_dir/out" >/dev/null
    jq -e '.probe.reasons[0] | contains("memory")' "$test_dir/out" >/dev/null
    # The user manager took the property, and says that it is in force.
    jq -e '[.probe.silent[].property] | contains(["MemoryMax"])' "$test_dir/out" >/dev/null ||
        fail "silent: $(jq -c .probe "$test_dir/out")"
    new_repo
    run -- true
    expect_status 125
    expect_err "controller 'memory' is not delegated"
    git-maco status --json | jq -e '.runs.by_last_event.run_refused == 1' >/dev/null
}

# Lanes: runs in them, and the way from a run to an applied commit (WT-01 to WT-09, ADM-01).

lanes() { # ARGUMENT...: maco-worktree; status in $status, streams in out and err
    status=0
    git-maco worktree "$@" >"$test_dir/out" 2>"$test_dir/err" || status=$?
}
wanted() { # ARGUMENT...: the same, and it must work
    lanes "$@"
    [[ $status == 0 ]] || fail "worktree $* says $status"
}
new_lanes() { # ARGUMENT...: a repository with directories a, b, c, and a lane "one"
    new_repo
    mkdir a b c
    for d in a b c; do echo "$d" >$d/file; done
    git add .
    git commit -qm directories
    lane=$HOME/repo.lanes/one
    wanted create "$@" one
}
# What an operator does with a lane that a run has written.
take() { # LANE [OPTION...]
    local name=$1
    shift
    wanted capture "$name"
    wanted show "$name"
    wanted accept "$name"
    wanted apply "$@" "$name"
}

# Three agents' work: two are applied, the one that moved under the third's feet is refused.
test_from_create_to_commit() {
    new_lanes --claim a
    wanted create --claim b two
    wanted create --private three
    run --lane one -- sh -c 'echo by one >>a/file && echo new >a/new && rm -f file; git status --short >/dev/null'
    expect_status 0
    expect_publishable
    expect .requested.lane.name one
    [[ $(cat a/file) == a ]] || fail "the checkout was touched"
    # It went outside of its claim.
    lanes capture one
    expect_status 1
    expect_err "'file' lies outside of what the lane has claimed"
    run --lane one -- git show HEAD:file
    echo content >"$lane/file"
    lanes capture one
    lanes accept one
    expect_status 1
    expect_err 'it is tainted'
    wanted repair --untaint 'the file is back' one
    take one --commit -m 'by one'
    [[ $(cat a/new) == new && -z $(git status --porcelain) ]] || fail "not applied"
    run --lane two -- sh -c 'echo by two >>b/file'
    run --lane three -- sh -c 'echo by three >>b/file && echo c >>c/file'
    take two --commit
    lanes capture three
    expect_status 1
    expect_err "'b/file' is claimed by lane 'two'"
    wanted release two
    wanted repair --untaint 'released' three
    wanted capture three
    wanted show three
    wanted accept three
    lanes apply three
    expect_status 1
    expect_err "'b/file' is not in HEAD as it was in the base"
    [[ $(git log --oneline | wc -l) == 4 && -z $(git status --porcelain) ]] || fail "it was changed"
    git-maco journal verify >/dev/null || fail "the state does not verify"
    expect_nothing_left
}

# WT-08: what no publishable run wrote is nobody's proof.
test_unproven_runs_are_not_accepted() {
    new_lanes
    run --lane one --timeout 1 -- sh -c 'echo cut >>a/file; sleep 100'
    expect_status 124
    wanted capture one
    wanted show one
    grep -q 'unproven' "$test_dir/out" || fail "show does not say it"
    lanes accept one
    expect_status 1
    expect_err 'does not prove what it did'
    wanted accept --unverified 'I read every line' one
    wanted apply one
    git-maco journal show store/lanes/1 2>/dev/null | grep -q . || git-maco journal list >/dev/null
    # A run that was refused wrote nothing, and stands in nobody's way.
    wanted create two
    lane=$HOME/repo.lanes/two
    mkfifo "$lane/fifo"
    run --lane two -- true
    expect_status 125
    rm "$lane/fifo"
    run --lane two -- sh -c 'echo ok >>c/file'
    expect_status 0
    take two
    # One more run after the capture is one that the candidate does not know.
    wanted create three
    run --lane three -- sh -c 'echo x >>c/new'
    wanted capture three
    wanted show three
    run --lane three -- sh -c 'echo y >>c/new'
    lanes accept three
    expect_status 1
    expect_err 'other runs wrote the lane since it was captured'
}

# ADM-01: the common directory is read-only in a linked lane; WT-09: a private one can commit.
test_a_linked_lane_cannot_write_git() {
    new_lanes
    local before
    before=$(find .git -path .git/maco -prune -o -type f -print0 | sort -z | xargs -0 sha256sum)
    run --lane one -- sh -c 'echo x >>a/file; ! git commit -qam x && ! git config user.name evil &&
        ! touch "$(git rev-parse --git-dir)/planted" && ! touch "$(git rev-parse --git-common-dir)/hooks/pre-commit"'
    expect_status 0
    expect_publishable
    [[ $(find .git -path .git/maco -prune -o -type f -print0 | sort -z | xargs -0 sha256sum) == "$before" ]] ||
        fail "the Git directory was changed"
}
test_a_private_lane_can_commit() {
    new_lanes --private
    local before
    before=$(find .git -path .git/maco -prune -o -type f -print0 | sort -z | xargs -0 sha256sum)
    run --lane one -- sh -ec 'echo x >>a/file; git commit -qam first; echo y >>a/file; git stash -q; git stash pop -q
        git commit -qam second; git rebase -q --onto HEAD~2 HEAD~1 || git rebase --abort; git tag t; git log --oneline'
    expect_status 0
    expect_publishable
    [[ $(find .git -path .git/maco -prune -o -type f -print0 | sort -z | xargs -0 sha256sum) == "$before" ]] ||
        fail "the common directory was changed"
    # What git would execute for the operator is out of reach.
    run --lane one -- sh -c 'cd .git && ! git config core.fsmonitor "touch /tmp/x" && ! echo x >>config && ! rm -f config &&
        ! touch hooks/post-checkout && ! mv hooks away && ! echo ../evil >commondir && ! rm -f commondir &&
        ! touch info/attributes && ! touch objects/info/x && ! mv ../.git ../away'
    expect_status 0
    expect_publishable
    # The same works where nothing stops it, so that the attempt was one.
    (cp -r "$lane" "$lane.copy" && cd "$lane.copy" && git config core.fsmonitor x && touch .git/hooks/h && echo . >.git/commondir)
    take one --commit
    grep -q x a/file || fail "not applied"
}

# What a crash leaves of an apply is finished, or undone (WT-05).
cut_short() { # LANE: kills the apply between the index and the ref, by its process id
    local place=$test_dir/cut
    mkdir -p "$place"
    rm -f "$place"/*
    cp "$(readlink -f /usr/bin/git)" "$place/real"
    cat >"$place/git" <<END
#!/bin/sh
case " \$* " in *" update-ref "*)
    echo \$\$ >"$place/git.pid" && mv "$place/git.pid" "$place/waits"
    exec sleep 600
    ;;
esac
exec "$place/real" "\$@"
END
    chmod +x "$place/git"
    unshare -rm sh -c 'mount --bind "$1" /usr/bin/git && echo $$ >"$2" && exec git-maco worktree apply --commit "$3"' \
        sh "$place/git" "$place/pid" "$1" >/dev/null 2>&1 &
    local apply=$!
    for _ in $(seq 300); do [[ -e $place/waits ]] && break; sleep 0.2; done
    [[ -e $place/waits ]] || fail "the apply did not come to the ref"
    kill -KILL "$(cat "$place/pid")"
    wait "$apply" || true
    kill -KILL "$(cat "$place/waits")" || true
    grep -q x a/file || fail "nothing was open"
    lanes apply --commit "$1"
    expect_status 128
    expect_err 'was cut short'
    ! git commit -qam other 2>/dev/null || fail "git could commit in between"
}
test_an_apply_that_was_cut_short() {
    new_lanes
    local head
    head=$(git rev-parse HEAD)
    run --lane one -- sh -c 'echo x >>a/file && echo n >b/new && rm c/file'
    expect_publishable
    wanted capture one
    wanted show one
    wanted accept one
    cut_short one
    wanted apply --abort one
    [[ $(git rev-parse HEAD) == "$head" && $(cat a/file) == a && -e c/file && ! -e b/new ]] || fail "not undone"
    [[ -z $(git status --porcelain) ]] || fail "something is left: $(git status --porcelain)"
    cut_short one
    wanted apply --continue one
    [[ $(git rev-parse HEAD^) == "$head" && $(cat b/new) == n && ! -e c/file ]] || fail "not finished"
    [[ -z $(git status --porcelain) ]] || fail "something is left: $(git status --porcelain)"
    git commit -q --allow-empty -m after || fail "git cannot commit afterwards"
    git-maco journal verify >/dev/null || fail "the state does not verify"
}

# The lease: one writer, or readers; a decision about a lane in use waits.
test_lease() {
    new_lanes
    maco-run --lane one -- sh -c 'touch a/started; sleep 30' >/dev/null 2>&1 &
    local busy=$!
    for _ in $(seq 100); do [[ -e $lane/a/started ]] && break; sleep 0.2; done
    [[ -e $lane/a/started ]] || fail "the run did not start"
    run --lane one -- true
    expect_status 125
    expect_err "lane 'one' is in use by another process"
    lanes capture one
    expect_status 128
    expect_err 'in use'
    lanes remove --discard one
    expect_status 128
    kill -TERM "$busy"
    wait "$busy" || true
    lanes capture one
    expect_status 0
    expect_nothing_left
}

# WT-04: no decision from inside a run.
test_no_decision_inside_a_run() {
    new_lanes
    run --lane one -- sh -c 'echo x >>a/file'
    wanted capture one
    wanted show one
    local verb
    for verb in accept 'reject --reason x' apply 'create two' 'claim one a'; do
        run --lane one -- "$bin/git-maco" worktree $verb one
        [[ $status == 128 || $status == 127 || $status == 126 || $status == 129 ]] || fail "$verb inside a run says $status"
    done
    [[ $(git-maco worktree list --json | jq -r '.lanes[0].state') == read ]] || fail "it was decided"
}

# A validation is bound to the candidate that it saw.
test_validation() {
    new_lanes
    run --lane one -- sh -c 'echo x >>a/file'
    wanted capture one
    local id
    id=$(cat "$test_dir/out")
    wanted show one
    wanted accept one
    git config maco.worktreeValidation true
    lanes apply one
    expect_status 1
    expect_err 'no run has validated this candidate'
    run --lane one --validates "$id" -- sh -c 'grep -q never a/file'
    expect_status 1
    lanes apply one
    expect_status 1
    expect_err 'ended with status 1'
    run --lane one --validates 00000000000000000000000000000000 -- true
    expect_status 125
    echo more >>"$lane/a/file"
    run --lane one --validates "$id" -- true
    expect_status 125
    expect_err 'is not candidate'
    printf 'a\nx\n' >"$lane/a/file"
    run --lane one --validates "$id" -- sh -c '! touch a/planted && grep -q x a/file'
    expect_status 0
    expect_publishable
    expect .requested.lane.validates "$id"
    wanted apply one
    grep -q x a/file || fail "not applied"
}

# Whoever changes the lane while a candidate is validated in it makes the run's word worth nothing.
test_a_lane_changed_while_it_is_validated() {
    new_lanes
    run --lane one -- sh -c 'echo x >>a/file'
    wanted capture one
    local id busy waited
    id=$(cat "$test_dir/out")
    wanted show one
    wanted accept one
    git config maco.worktreeValidation true
    for change in yes no; do
        waited=0
        maco-run --lane one --validates "$id" -- sh -c 'echo started; read -r line' >"$test_dir/said" 2>"$test_dir/err" < <(
            while ! grep -qs started "$test_dir/said" && [[ $waited -lt 300 ]]; do sleep 0.2; waited=$((waited + 1)); done
            [[ $change == no ]] || echo more >>"$lane/a/file"
            echo go
        ) &
        busy=$!
        status=0
        wait "$busy" || status=$?
        grep -q started "$test_dir/said" || fail "the validation did not start"
        if [[ $change == yes ]]; then
            expect_status 122
            expect_err 'is not candidate'
            printf 'a\nx\n' >"$lane/a/file"
            lanes apply one
            expect_status 1
            expect_err 'was not found to hold the candidate after it'
        fi
    done
    [[ $status == 0 ]] || fail "without a change it says $status"
    wanted apply one
}

test_write_claims() {
    new_lanes --claim a --claim new/deep
    run --lane one --write-claims -- sh -c 'echo x >>a/file && echo n >new/deep/n && ! touch b/no 2>/dev/null && ! touch top 2>/dev/null'
    expect_status 0
    expect_publishable
    take one
    [[ $(cat new/deep/n) == n ]] || fail "not applied"
    wanted create --claim c/file two
    run --lane two --write-claims -- true
    expect_status 125
    expect_err 'is no directory'
}

# maco-run: attacks by way of other repositories, of the user's share of the kernel, and of odd
# files (ADM-01, JRN-10, RUN-06, RUN-10, RUN-14). Each with a control that shows the attack.

# other_repositories: nested, with a separate git directory, a submodule; each has a key.
other_repositories() {
    git init -q inner
    (cd inner && git-maco init >/dev/null)
    git init -q --separate-git-dir gd inner2
    (cd inner2 && git-maco init >/dev/null)
    git init -q ../library
    git -C ../library -c user.name=a -c user.email=a@b.invalid commit -q --allow-empty -m one
    git -c protocol.file.allow=always submodule --quiet add ../library sub
    git commit -q -m sub
    (cd sub && git-maco init >/dev/null)
}
keys=(inner/.git/maco/key gd/maco/key .git/modules/sub/maco/key .git/maco/key)

test_keys_of_other_repositories_are_hidden() {
    new_repo
    other_repositories
    local key mode masks=''
    for key in "${keys[@]}"; do
        [[ $(wc -c <"$key") -gt 0 ]] || fail "there is no $key"
    done
    for mode in '' '--profile offline-write --write .'; do
        # shellcheck disable=SC2086
        run $mode -- sh -c 'for key; do cat "$key" && echo "read $key"; done; true' sh "${keys[@]}"
        expect_status 0
        expect_publishable
        expect_out ''
    done
    # The control: without the masks each is read, although the rest of the run is as ever.
    for key in "${keys[@]}"; do masks+="${masks:+,}mask:$PWD/${key%/key}"; done
    maco-run-omit --omit "$masks" --no-gate -- sh -c 'for key; do cat "$key" >/dev/null && echo "read $key"; done' \
        sh "${keys[@]}" >"$test_dir/out" 2>"$test_dir/err" </dev/null || true
    expect_out "$(printf 'read %s\n' "${keys[@]}")"
}

# From a submodule, and from a linked worktree: the repository around it.
test_keys_of_repositories_around_are_hidden() {
    new_repo
    other_repositories
    git worktree add -q ../lane
    git -C ../lane -c protocol.file.allow=always submodule --quiet update --init
    (cd ../lane/sub && git-maco init >/dev/null)
    local lane_key
    lane_key=$(git -C ../lane/sub rev-parse --absolute-git-dir)/maco/key
    [[ -s $lane_key ]] || fail "the lane's submodule has no key of its own"
    local home=$PWD
    cd ../lane
    run -- cat "$home/.git/maco/key" "$lane_key" "$home/.git/modules/sub/maco/key"
    expect_status 1
    [[ ! -s $test_dir/out ]] || fail "a key was read"
    cd "$home/sub"
    run --profile offline-write --write . -- cat "$home/.git/maco/key" "$home/.git/modules/sub/maco/key" ../.git/maco/key
    expect_status 1
    [[ ! -s $test_dir/out ]] || fail "a key was read"
    expect_publishable
    # Outside of every home nothing else covers it.
    cd /tmp
    rm -rf "/var/tmp/outer.$$"
    new_repo "/var/tmp/outer.$$"
    git init -q inner
    cd inner
    git-maco init >/dev/null
    run -- cat ../.git/maco/key
    expect_status 1
    expect_publishable
    rm -rf "/var/tmp/outer.$$"
}

test_git_directories_of_any_name_stay_read_only() {
    new_repo
    other_repositories
    git init -q --bare bare.git
    mkdir dir
    cp -r bare.git dir/copy
    run --profile offline-write --write . -- sh -c '
        for dir in gd bare.git dir/copy inner/.git .git/modules/sub; do
            echo x >>$dir/config && echo "wrote $dir/config"
            mkdir -p $dir/hooks && echo x >$dir/hooks/pre-commit && echo "wrote $dir/hooks"
            mv $dir away && echo "moved $dir"
        done
        mv dir other && echo moved dir
        echo x >new && echo x >dir/new && echo fine'
    expect_status 0
    expect_publishable
    expect_out fine
    # The control: the same outside.
    echo x >>bare.git/config
    mv dir other
}

test_a_git_file_that_a_run_could_lead_elsewhere_is_refused() {
    new_repo
    git init -q --separate-git-dir "$PWD/gd" inner
    ln -s gd link
    echo "gitdir: ../link" >inner/.git
    run --profile offline-write --write . -- true
    expect_status 125
    expect_err "which the run could replace"
    echo "gitdir: ../gone" >inner/.git
    run --profile offline-write --write . -- true
    expect_status 125
    expect_err "could be made by the run"
    run -- true
    expect_status 0
    run --profile offline-write --write gd -- true
    expect_status 125
    expect_err 'has to stay read-only'
}

test_hooks_and_included_configuration_stay_read_only() {
    new_repo
    mkdir -p .husky deep/er
    printf '#!/bin/sh\ntrue\n' >.husky/pre-commit
    printf '[alias]\n\tok = version\n' >.gitshared
    : >deep/er/empty
    git config core.hooksPath .husky
    git config include.path ../.gitshared
    git config includeIf.gitdir:/nowhere/.path ../deep/er/empty
    run --profile offline-write --write . -- sh -c '
        echo evil >.husky/pre-commit && echo wrote hook
        mv .husky away && echo moved hooks
        echo evil >.gitshared && echo wrote include
        rm -f .gitshared && echo removed include
        echo evil >deep/er/empty && echo wrote empty
        mv deep away && echo moved deep
        echo fine >new'
    expect_status 0
    expect_publishable
    expect_out ''
    [[ -e new ]]
    (cd deep && run --profile offline-write --write .. -- sh -c '! echo evil >../.gitshared') || fail "from below"
    expect_status 0
    # The control: nothing but this keeps them.
    git config --unset core.hooksPath
    git config --unset include.path
    run --profile offline-write --write . -- sh -c 'echo x >.husky/pre-commit && echo x >.gitshared'
    expect_status 0
    git config core.hooksPath not-there
    run --profile offline-write --write . -- true
    expect_status 125
    expect_err 'could be made by the run'
}

test_more_mounts_than_a_unit_takes() {
    new_repo
    mkdir build
    local i
    for i in $(seq 80); do mkdir -p "build/r$i/a/b/c/d/e/f/.git"; done
    run --profile offline-write --write build -- true
    expect_status 125
    expect_err 'need more than 512 mounts; name smaller directories'
    expect_nothing_left
    run -- true
    expect_status 0
}

test_what_cannot_be_scanned_names_a_remedy() {
    new_repo
    mkdir -p build/closed
    chmod 0 build/closed
    run -- true
    chmod 700 build/closed
    expect_status 125
    expect_err 'make it readable (chmod u+rx)'
    perl -e 'chdir "build"; for (1 .. 20) { mkdir "x" x 250; chdir "x" x 250 }'
    run -- true
    expect_status 125
    expect_err 'remove the tree (rm -r)'
    rm -r build
}

# What the kernel counts for each user stays for the user.
test_share_of_the_user() {
    new_repo
    cp "$bin/hostile/resources" hostile-resources
    ulimit -Sn 1024
    run -- ./hostile-resources count=100 inotify-instances
    expect_out 'inotify-instances stopped EMFILE'
    expect_publishable
    run -- ./hostile-resources count=600 pending-signals
    expect_out 'pending-signals stopped EAGAIN'
    expect_publishable
    # The controls: the same outside, and with the layers left out.
    ./hostile-resources count=100 inotify-instances >"$test_dir/out"
    expect_out 'inotify-instances worked'
    maco-run-omit --omit step:user-limits,property:LimitSIGPENDING --no-gate -- \
        ./hostile-resources count=100 inotify-instances >"$test_dir/out" 2>"$test_dir/err" </dev/null || true
    expect_out 'inotify-instances worked'
    maco-run-omit --omit step:user-limits,property:LimitSIGPENDING --no-gate -- \
        ./hostile-resources count=600 pending-signals >"$test_dir/out" 2>"$test_dir/err" </dev/null || true
    expect_out 'pending-signals worked'
}

# Descriptors on their way in sockets of one run must not stop the next maco-run.
test_descriptors_in_flight_stop_no_other_run() {
    new_repo
    cp "$bin/hostile/resources" hostile-resources
    ulimit -Sn 1024
    maco-run -- ./hostile-resources count=4000 hold=600 in-flight >/dev/null 2>"$test_dir/first" &
    local pid=$!
    until grep -q sent "$test_dir/first"; do kill -0 "$pid" && sleep 0.1; done
    # The control: somebody with a small limit cannot send.
    ./hostile-resources count=1 hold=0 in-flight >"$test_dir/out" 2>/dev/null || true
    expect_out 'in-flight stopped ETOOMANYREFS'
    run -- true
    expect_status 0
    expect_publishable
    kill -TERM "$pid"
    wait "$pid" || true
    expect_nothing_left
}

# RUN-14: what is not seen counts as what the file system has lost.
test_disk_limit_of_hidden_files() {
    new_repo
    mkdir build
    cp "$bin/hostile/disk" hostile-disk
    local attempt
    for attempt in one-page-mapped named-like-memory table-of-a-thread ended-leader in-flight closed-process; do
        run --profile offline-write --write build --disk 8m --timeout 60 -- \
            ./hostile-disk "dir=$PWD/build" mib=40 hold=50 "$attempt"
        expect_status 137 || fail "$attempt"
        expect .outcome.ended_by 'disk limit'
        expect_nothing_left
        # The control: where it fits it is done, so nothing else stops it.
        run --profile offline-write --write build --disk 400m --timeout 60 -- \
            ./hostile-disk "dir=$PWD/build" mib=40 hold=0 "$attempt"
        expect_out "$attempt worked" || fail "$attempt"
        expect_publishable
        rm -rf build/*
    done
}

# It is stopped before it is measured: many descriptors buy no time to write.
test_disk_limit_while_it_is_measured() {
    new_repo
    mkdir build
    cp "$bin/hostile/disk" hostile-disk
    run --profile offline-write --write build --disk 8m --timeout 100 -- \
        ./hostile-disk "dir=$PWD/build" mib=400 processes=40 count=1000 hold=50 long-look
    expect .outcome.ended_by 'disk limit'
    (($(evidence .measurements.disk.taken) < 200 << 20)) || fail "it went on for $(evidence .measurements.disk.taken)"
    expect_nothing_left
}

# ADM-01: what the run makes into a repository is told, since git obeys it afterwards.
test_repositories_that_a_run_makes_are_told() {
    new_repo
    mkdir build
    run --profile offline-write --write build -- sh -c 'cd build && git init -q x && git init -q --bare y && echo z >file'
    expect_status 0
    expect_publishable
    expect_err "the run left a Git repository in '$PWD/build/x' and in 1 other places: git run there, or in a repository around it, obeys its configuration"
    expect '.measurements.new_repositories.paths | join(" ")' "$PWD/build/x/.git $PWD/build/y"
    expect .observations.end.new_state_roots 0
    # The control: the same tree once more has nothing new, and nothing is said.
    run --profile offline-write --write build -- sh -c 'echo z >build/file'
    expect_publishable
    [[ ! -s $test_dir/err ]] || fail "something is said"
    expect '.measurements.new_repositories.paths | length' 0
    run -- true
    expect '.measurements | has("new_repositories")' false
}

# JRN-10: whoever made the key can sign evidence with it.
test_state_roots_that_a_run_makes_are_not_published() {
    new_repo
    mkdir build
    run --profile offline-write --write build -- sh -c 'mkdir -p build/x/.git/maco && echo mine >build/x/.git/maco/key'
    expect_status 122
    expect .publishable false
    expect '.reasons | length' 1
    expect_err 'not publishable: end.new_state_roots: the run made a state root of git maco, whose key it knows'
    expect '.measurements.new_repositories.state_roots | join(" ")' "$PWD/build/x/.git/maco"
    rm -r build/x
    # What cannot be looked at is told, not passed over.
    run --profile offline-write --write build -- sh -c 'mkdir build/closed && chmod 0 build/closed'
    chmod 700 build/closed
    expect_status 0
    expect_err 'it was not looked at whether the run left Git repositories: cannot scan'
    expect .measurements.new_repositories.looked_at false
    expect .observations.end.new_state_roots 'not looked at'
}

# maco-run: what is refused before anything starts: status 125, one clear line, nothing left (RUN-04 to RUN-06).

expect_refusal() { # WORDS
    expect_status 125
    expect_err "$1"
    [[ $(wc -l <"$test_dir/err") == 1 ]] || fail "more than one line on stderr"
    [[ ! -s $test_dir/out ]] || fail "something ran"
    expect_nothing_left
}

test_outside_a_repository() {
    run -- true
    expect_refusal 'not a git repository'
}

test_repository_without_state_names_the_command() {
    git init -q repo
    cd repo
    run -- true
    expect_refusal "run 'git maco init'"
}

test_wrong_options() {
    new_repo
    run
    expect_refusal "no command given"
    run --profile no-such -- true
    expect_refusal "unknown profile 'no-such'"
    run --memory 1 -- true
    expect_refusal '--memory 1 is out of range'
    run --memory lots -- true
    expect_refusal "--memory 'lots' is not a number"
    run stray -- true
    expect_refusal "unexpected argument 'stray'"
    run --env GIT_DIR=x -- true
    expect_refusal "'GIT_DIR' is never passed into a run"
    run --env MY_API_TOKEN=x -- true
    expect_refusal "looks like a credential"
    run --write . -- true
    expect_refusal "has no writable roots"
    status=0
    maco-run --evidence-fd 77 -- true >"$test_dir/out" 2>"$test_dir/err" || status=$?
    expect_refusal '--evidence-fd 77 is not open'
}

test_roots_that_cannot_be() {
    new_repo
    ln -s /etc link
    mkdir -p dir/inner
    for case in "link=symbolic link" "missing=No such file" "/=is '/'" "/etc=another user" \
        "$HOME/repo/.git=administrative directory" "$(getent passwd maco | cut -d: -f6)=home directory"; do
        run --workspace "${case%%=*}" -- true
        expect_refusal "${case#*=}"
    done
    run --profile offline-write --write dir --write dir/inner -- true
    expect_refusal overlap
    run --profile offline-write --write .git/maco -- true
    expect_refusal 'administrative directory'
}

test_special_files_are_named() {
    new_repo
    mkfifo pipe
    run -- true
    expect_refusal "/repo/pipe' is a FIFO"
    rm pipe
    perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0); bind(S, pack_sockaddr_un($ARGV[0])) or die' sock
    run -- true
    expect_refusal "/repo/sock' is a socket"
    mkdir -p .git/x
    mv sock .git/fsmonitor--daemon.ipc
    run -- true
    expect_refusal 'git fsmonitor--daemon stop'
}

test_hard_link_out_of_a_writable_root() {
    new_repo
    ln file ../other-name
    run -- true
    expect_status 0
    run --profile offline-write --write . -- true
    expect_refusal 'has another name outside (hard link)'
    ln -f file second-name
    rm ../other-name
    run --profile offline-write --write . -- true
    expect_status 0
}

test_too_many_entries() {
    new_repo
    mkdir many
    (cd many && seq 100 | xargs touch)
    run --scan-entries 50 -- true
    expect_refusal 'holds more than 50 entries'
}

test_result_that_exists() {
    new_repo
    run --result file -- true
    expect_refusal "--result 'file' exists already"
    run --result no/dir/r -- true
    expect_refusal 'No such file'
}

# OUT-04: before anything runs, not when the work is done.
test_result_that_could_not_be_saved() {
    new_repo
    mkdir -p out/deep
    local place
    for place in out/answer out/deep/answer "$PWD/out/answer" out/deep/../answer; do
        run --profile offline-write --write out --result "$place" -- sh -c 'echo ran; echo x >"$MACO_RESULT"'
        expect_refusal "--result lies in writable root '$PWD/out'"
        [[ ! -e $place ]] || fail "it was saved"
    done
    run --result "$(printf 'r%.0s' $(seq 256))" -- echo ran
    expect_refusal 'is longer than 255 bytes'
    # The controls: beside the writable root, and a name that is just short enough.
    run --profile offline-write --write out --result answer -- sh -c 'echo x >"$MACO_RESULT"'
    expect_status 0
    [[ $(cat answer) == x ]]
    run --result "$(printf 'r%.0s' $(seq 255))" -- sh -c 'echo x >"$MACO_RESULT"'
    expect_status 0
}

# RUN-06: core.worktree comes with the repository, and is not the caller's word.
test_worktree_that_the_repository_chose() {
    mkdir "$HOME/private"
    echo secret >"$HOME/private/file"
    new_repo
    run -- cat file
    expect_out content # the control
    git config core.worktree "$HOME/private"
    run -- cat file
    expect_refusal "worktree '$HOME/private' was chosen by the repository's own configuration; name it with --workspace"
    git config core.worktree ../../private
    run -- cat file
    expect_refusal "was chosen by the repository's own configuration"
    run --workspace "$HOME/private" -- cat file
    expect_status 0
    expect_out secret
    GIT_WORK_TREE=$HOME/private run -- cat file
    expect_status 0
    expect_out secret
}

# Git itself sets core.worktree in submodules, and leads to them by a file.
test_submodules_and_linked_worktrees_choose_nothing() {
    new_repo
    git init -q ../library
    git -C ../library -c user.name=a -c user.email=a@b.invalid commit -q --allow-empty -m one
    git -c protocol.file.allow=always submodule --quiet add ../library sub
    git commit -q -m sub
    git worktree add -q ../lane
    cd sub
    [[ $(git config core.worktree) == ../../../sub ]] || fail "this git does not set it: nothing is tested"
    git-maco init >/dev/null
    run -- pwd
    expect_status 0
    expect_out "$PWD"
    expect_publishable
    cd ../../lane
    run -- pwd
    expect_status 0
    expect_out "$PWD"
    GIT_DIR=$HOME/repo/.git run -- pwd
    expect_status 0
    expect_out "$PWD"
}

test_state_root_of_wrong_mode() {
    new_repo
    chmod 755 .git/maco
    run -- true
    expect_refusal 'not private'
}

test_moved_repository_names_the_command() {
    new_repo
    mv "$HOME/repo" "$HOME/moved"
    cd "$HOME/moved"
    run -- true
    expect_refusal 'rebind'
}

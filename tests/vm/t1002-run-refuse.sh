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

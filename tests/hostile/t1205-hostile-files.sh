# Hostile: the file system: links, nodes, set-ID files, every place outside the roots, the key, .git,
# the result file, inherited descriptors (RUN-06, RUN-07, ADM-01, JRN-10, OUT-05).
# engines: qemu host
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

test_links_nodes_and_set_id() {
    new_repo
    options=(--profile offline-write --write .)
    # A tmpfs, inside and outside: an overlay has no whiteouts and no unnamed files.
    mkdir "/tmp/hostile.$$"
    local attempts=(link linkat link-by-descriptor link-temporary mkfifo mkfifo-old mknod-socket
        mknod-socket-old mknod-whiteout rename-whiteout mknod-null mknod-disk setuid-chmod
        setuid-fchmod setuid-fchmodat setgid-fchmod setgid-chmod setuid-openat setuid-open
        setuid-creat setuid-openat2 setuid-mknod setuid-mknodat)
    mkdir /tmp/hostile.root && cp file /tmp/hostile.root
    options+=(--write /tmp/hostile.root)
    attack files dir=/tmp/hostile.root file=/tmp/hostile.root/file "${attempts[@]}"
    stopped_by <<'TABLE'
link                EPERM   filter:link
linkat              EPERM   filter:linkat
link-by-descriptor  EPERM   filter:linkat
link-temporary      EPERM   filter:linkat
mkfifo              EPERM   filter:mkfifo
mkfifo-old          EPERM   filter:mkfifo-old
mknod-socket        EPERM   filter:mknod-socket
mknod-socket-old    EPERM   filter:mknod-socket-old
mknod-whiteout      EPERM   filter:mknod-device
rename-whiteout     EPERM   filter:rename-whiteout
mknod-null          EPERM   filter:mknod-device capabilities
mknod-disk          EPERM   filter:mknod-device-old capabilities
setuid-chmod        EPERM   filter:setuid-chmod no-new-privs
setuid-fchmod       EPERM   filter:setuid-fchmod no-new-privs
setuid-fchmodat     EPERM   filter:setuid-fchmodat no-new-privs
setgid-fchmod       EPERM   filter:setuid-fchmod no-new-privs
setgid-chmod        EPERM   filter:setuid-chmod no-new-privs
setuid-openat       EPERM   filter:setuid-create no-new-privs
setuid-open         EPERM   filter:setuid-open no-new-privs
setuid-creat        EPERM   filter:setuid-creat no-new-privs
setuid-openat2      ENOSYS  filter:openat2 no-new-privs
setuid-mknod        EPERM   filter:setuid-mknod-old no-new-privs
setuid-mknodat      EPERM   filter:setuid-mknod no-new-privs
TABLE
    control files dir=/tmp/hostile.root file=/tmp/hostile.root/file "${attempts[@]}" <<'TABLE'
mknod-null both for root only, see t1206
mknod-disk both for root only, see t1206
TABLE
    all_controlled
    layers_off step:filter,step:landlock files dir=/tmp/hostile.root file=/tmp/hostile.root/file "${attempts[@]}" <<'TABLE'
mknod-null both for root only
mknod-disk both for root only
TABLE
    rm -rf /tmp/hostile.root
}

# A file in every place where the user may write outside; each is read-only, covered or masked inside.
test_every_place_outside_the_roots() {
    new_repo
    mkdir out
    run -- true # so that the state root holds runs
    expect_status 0
    options=(--profile offline-write --write out)
    local place places=("$HOME" "$PWD" "$PWD/.git" "$PWD/.git/hooks" "$PWD/.git/info"
        "$PWD/.git/refs/heads" "$PWD/.git/objects" "$PWD/.git/maco" "$PWD/.git/maco/runs" /tmp
        /var/tmp /dev/shm "/run/user/$UID" "/run/user/$UID/systemd" /run/lock)
    local attempts=(write write-by-link truncate chmod touch rename-over rename-away make-file
        make-directory remove)
    local covered="/tmp /var/tmp /dev/shm"
    put files
    for place in "${places[@]}"; do
        echo outer >"$place/target"
        echo outer >"$place/target.victim"
        stat -c '%n %s %Y %a' "$place/target" "$place/target.victim"
    done >"$test_dir/places"
    # One run for all of them: what each attempt did is looked at from outside.
    run "${options[@]}" -- sh -c 'for place; do
            ./hostile-files dir=out "target=$place/target" "outside=$place" '"${attempts[*]}"' |
                sed "s|^|$place |"
        done; true' sh "${places[@]}"
    expect_status 0
    expect_publishable
    for place in "${places[@]}"; do
        stat -c '%n %s %Y %a' "$place/target" "$place/target.victim"
    done | diff "$test_dir/places" - || fail "a file outside was changed"
    # In directories of its own it may make what it likes; nothing else works anywhere.
    grep worked "$test_dir/out" | grep -vE "^(/tmp|/var/tmp|/dev/shm) (make-file|make-directory|rename-over) " &&
        fail "an attempt worked"
    (($(grep -c stopped "$test_dir/out") == ${#places[@]} * ${#attempts[@]} - 3 * 2)) || fail "attempts are missing"
    # Control: the same outside.
    for place in "${places[@]}"; do
        [[ $place != "/run/user/$UID/systemd" ]] || continue # the user manager's own
        control files "dir=$place" "target=$place/target" "outside=$place" "${attempts[@]}" <<'TABLE'
TABLE
    done
    rm -f /tmp/target* /var/tmp/target* /dev/shm/target* /run/lock/target* /run/user/$UID/target* \
        /run/user/$UID/systemd/target*
}

# By every road that leads to the key: its path, other names of it, other processes' views.
test_the_key_and_the_state() {
    new_repo
    git worktree add -q ../lane
    ln -s "$PWD/.git" ../alias
    local key=$PWD/.git/maco/key roads=(
        "$PWD/.git/maco/key" "$PWD/../lane/../repo/.git/maco/key" "$HOME/alias/maco/key"
        "/proc/self/cwd/.git/maco/key" "/proc/self/root$PWD/.git/maco/key" "/proc/1/root$PWD/.git/maco/key"
        "/proc/1/cwd/.git/maco/key" "/dev/fd/../cwd/.git/maco/key"
    )
    roads+=("$PWD/.git/maco/repository" "$PWD"/.git/maco/runs)
    # Wherever the user can write outside; the whole system is too much for the guest's file server.
    run -- sh -c 'places="/home /root /run /tmp /var/tmp /dev /srv /mnt $PWD"
        for road; do cat "$road" >/dev/null 2>&1 || ls "$road" >/dev/null 2>&1 && echo "worked $road"; done
        ls -la .git/maco 2>&1; find $places -name key -path "*maco*" 2>/dev/null; find $places -inum "$(stat -c %i .git/maco)" 2>/dev/null | head -3; true' sh "${roads[@]}"
    expect_status 0
    expect_publishable
    ! grep -q 'worked\|maco/key' "$test_dir/out" || fail "the key was found"
    expect ".observations.inside.masks[\"$PWD/.git/maco\"].open_errno" 13
    # Control: outside each road but those of process 1 leads there; without the mask the run reads it.
    local road
    for road in "${roads[@]}"; do
        [[ $road == /proc/1/* ]] || cat "$road" >/dev/null 2>&1 || ls "$road" >/dev/null || fail "no road: $road"
    done
    maco-run-omit --omit "mask:$PWD/.git/maco" --no-gate -- cat .git/maco/key >"$test_dir/control" 2>"$test_dir/err" || true
    cmp "$test_dir/control" .git/maco/key
}

# What the user's files behind the standard descriptors are, the run never gets.
test_inherited_descriptors() {
    new_repo
    put descriptors
    echo precious >"$HOME/input"
    echo precious >"$HOME/errors"
    : >"$test_dir/controlled"
    local attempts=(extra reopen-input reopen-error rewind-input guardian-0 guardian-control guardian-pipe)
    status=0
    exec 7<>"$HOME/input"
    maco-run --evidence-fd 9 -- ./hostile-descriptors "${attempts[@]}" <"$HOME/input" \
        >"$test_dir/out" 2>>"$HOME/errors" 9>"$test_dir/evidence.json" || status=$?
    cp "$test_dir/out" "$test_dir/attacked"
    [[ $(cat "$HOME/input") == precious && $(cat "$HOME/errors") == precious ]] || fail "a file was changed"
    stopped_by <<'TABLE'
extra             EBADF   descriptors
reopen-input      ESPIPE  descriptors
reopen-error      ESPIPE  descriptors
rewind-input      ESPIPE  descriptors
guardian-0        EACCES  init
guardian-control  EACCES  init
guardian-pipe     EACCES  init
TABLE
    # Outside, and the descriptors of a process that is not guarded.
    ./hostile-descriptors extra reopen-input reopen-error rewind-input <"$HOME/input" \
        >"$test_dir/control" 2>>"$HOME/errors"
    expect_worked "$test_dir/control" </dev/null
    exec 7<&-
    cat >>"$test_dir/controlled" <<'NAMES'
guardian-0
guardian-control
guardian-pipe
NAMES
    sleep 600 3<>"$HOME/input" &
    cat "/proc/$!/fd/3" >/dev/null || fail "the control of guardian-control does not work"
    kill $!
    all_controlled
}

# Each of them makes another file of $1, or of what it lies in.
result_attacks=('rm "$1"' 'mv "$1" "$1.old"' 'ln -sf /etc/passwd "$1"' 'ln "$1" "${1%/*}/second"'
    'cp /etc/passwd "$1.new" && mv "$1.new" "$1"' 'rm "$1" && mkfifo "$1"' 'mkdir "${1%/*}/more"'
    'mv "${1%/*}" "${1%/*}-old"' 'ln -s /etc "${1%/*}/etc"' 'chmod 777 "${1%/*}"')

test_the_result_file() {
    new_repo
    # Inside: neither the file nor its directory can be replaced, linked or renamed.
    run --result "$HOME/r" -- sh -c 'for attack; do sh -c "$attack" sh "$MACO_RESULT" && echo "worked: $attack"; done
        echo good >"$MACO_RESULT"' sh "${result_attacks[@]}"
    expect_status 0
    expect_out ''
    expect_publishable
    [[ $(cat "$HOME/r") == good ]]
    expect .observations.end.result.links 1
    expect .observations.end.result.name_leads_to_it true
    # Control: in a directory of its own each of these works.
    local attack
    for attack in "${result_attacks[@]}"; do
        mkdir "$HOME/place"
        echo mine >"$HOME/place/result"
        sh -c "$attack" sh "$HOME/place/result" || fail "the control does not work: $attack"
        rm -rf "$HOME"/place*
    done
}

# A place that the run could change is no place for its result.
test_the_place_of_the_result() {
    new_repo
    mkdir -p out/place "$HOME/elsewhere"
    run --profile offline-write --write out --result out/place/r -- sh -c '
        mv out/place out/moved; ln -s "$0" out/place; echo evil >"$MACO_RESULT"' "$HOME/elsewhere"
    expect_status 125
    expect_err '--result lies in writable root'
    [[ -d out/place && -z $(ls -A "$HOME/elsewhere") ]] || fail "something ran"
    # The control: what it would have done there.
    run --profile offline-write --write out -- sh -c 'mv out/place out/moved; ln -s "$0" out/place' "$HOME/elsewhere"
    expect_status 0
    [[ -L out/place ]] || fail "the control did not change the place"
}

plant='
    mkdir -p "$1/hooks"; echo "touch \"$2\"" >"$1/hooks/pre-commit"; chmod +x "$1/hooks/pre-commit"
    echo "[core] fsmonitor = touch $2" >>"$1/config"; echo "x" >>"$1/info/exclude"
    git -C "${1%/*}" config core.hooksPath /tmp; git -C "${1%/*}" update-ref refs/heads/evil HEAD
    mv "$1/config" "$1/config.old"; mv "$1" "$1.old"; cp -r "$1.old" "$1"; rm -rf "$1/hooks"
    ln -sfn /tmp "$1/hooks"; chmod -R 777 "$1"; true'

git_state() { find "$1" -path '*/maco' -prune -o -type f -exec sha256sum {} + -o -type l -print | sort; }

test_planting_in_git() {
    new_repo
    git init -q sub/inner/deep && git -C sub/inner/deep -c user.name=a -c user.email=b commit -q --allow-empty -m x
    git worktree add -q ../lane
    local repository
    for repository in . sub/inner/deep; do git_state "$repository/.git"; done >"$test_dir/git"
    run --profile offline-write --write . -- sh -c "$plant"'; set -- "$3" "$2"; '"$plant" sh \
        "$PWD/.git" "$HOME/planted" "$PWD/sub/inner/deep/.git"
    expect_status 0
    expect_publishable
    for repository in . sub/inner/deep; do git_state "$repository/.git"; done | diff "$test_dir/git" - ||
        fail "an administrative directory was changed"
    git -c user.name=a -c user.email=b commit -q --allow-empty -m y
    git -C sub/inner/deep -c user.name=a -c user.email=b commit -q --allow-empty -m y
    [[ ! -e $HOME/planted ]] || fail "a planted program ran"
    # Control: outside the same plants a hook that runs.
    sh -c "$plant" sh "$PWD/sub/inner/deep/.git" "$HOME/planted" 2>/dev/null
    git -C sub/inner/deep status >/dev/null 2>&1 || true
    [[ -L sub/inner/deep/.git/hooks ]] || fail "the control did not plant anything"
}

# A mount on .git does not hold the directories above it: they could be moved away, and another
# repository put in their place.
test_moving_what_holds_git() {
    new_repo
    git init -q sub/inner/deep && git -C sub/inner/deep -c user.name=a -c user.email=b commit -q --allow-empty -m x
    git_state sub/inner/deep/.git >"$test_dir/git"
    run --profile offline-write --write . -- sh -c '
        for above in sub/inner/deep sub/inner sub; do
            mv "$above" "$above.old" && echo "worked $above"
            mkdir -p "$above/.git/hooks"
        done; true'
    ! grep -q worked "$test_dir/out" || fail "a directory that holds a repository was moved"
    git_state sub/inner/deep/.git | diff "$test_dir/git" -
    expect_publishable
    mv sub sub.old # the control: outside nothing holds it
}

# The repository itself lies deeper than the root.
test_moving_what_holds_the_repository() {
    new_repo "$HOME/top/repo"
    git_state .git >"$test_dir/git"
    run --workspace "$HOME/top" --profile offline-write --write "$HOME/top" -- sh -c '
        cd "$0" && mv repo repo.old && echo worked; mkdir -p repo/.git/hooks; true' "$HOME/top"
    ! grep -q worked "$test_dir/out" || fail "the repository was moved"
    git_state .git | diff "$test_dir/git" -
    mkdir "$HOME/wide"
    mv "$HOME/top" "$HOME/wide/top"
    cd "$HOME/wide/top/repo"
    git-maco rebind >/dev/null 2>&1 || { rm -rf .git/maco && git-maco init >/dev/null; }
    run --workspace "$HOME/wide" --profile offline-write --write "$HOME/wide/top" -- sh -c '
        cd "$0" && touch .git/planted && echo worked; true' "$PWD"
    ! grep -q worked "$test_dir/out" || fail "the git directory in a nested writable root is writable"
    [[ ! -e .git/planted ]]
}

# A run must not be able to change the programs that guard the next one.
test_the_guardian_in_a_writable_root() {
    new_repo
    mkdir bin
    cp "$bin"/maco-run "$bin"/maco-guardian bin
    status=0
    ./bin/maco-run --profile offline-write --write . -- touch bin/changed >"$test_dir/out" 2>"$test_dir/err" || status=$?
    expect_status 125
    expect_err "holds maco-run's own programs"
    ./bin/maco-run -- true
    status=0
    run -- sh -c 'echo x >"$0"' "$bin/maco-guardian"
    [[ $status != 0 ]]
}

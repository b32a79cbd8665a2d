# Hostile: the user's terminal: typing into it, writing on it, taking it over (RUN-07).
# engines: qemu host
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# Runs a command on a terminal of its own; what appears on it is left in $test_dir/screen.
on_terminal() { # COMMAND
    script -qec "$1" "$test_dir/typescript" </dev/null >"$test_dir/screen" 2>&1 || true
}

test_typing_into_the_terminal() {
    new_repo
    put terminal
    : >"$test_dir/controlled"
    local attempts="input input-high-bits controlling controlling-high-bits own own-high-bits by-name write-by-name settings foreground"
    on_terminal 'maco-run --evidence-fd 9 -- ./hostile-terminal "pts=$(tty)" '"$attempts"' 9>'"$test_dir/evidence.json"
    tr -d '\r' <"$test_dir/screen" >"$test_dir/out"
    cp "$test_dir/out" "$test_dir/attacked"
    status=1
    stopped_by <<'TABLE'
input                  EPERM   filter:tiocsti descriptors
input-high-bits        EPERM   filter:tiocsti-high-bits descriptors
controlling            ENXIO   filter:tiocsti namespace:pid
controlling-high-bits  ENXIO   filter:tiocsti-high-bits namespace:pid
own                    EPERM   filter:tiocsti
own-high-bits          EPERM   filter:tiocsti-high-bits
by-name                ENOENT  filter:tiocsti
write-by-name          ENOENT  filter:tiocsti
settings               ENOTTY  descriptors
foreground             ENXIO   namespace:pid
TABLE
    # The same on a terminal, without maco-run: each byte that was typed is there to be read.
    on_terminal './hostile-terminal "pts=$(tty)" '"$attempts"
    tr -d '\r' <"$test_dir/screen" | sed 's/^ *//' >"$test_dir/control"
    expect_worked "$test_dir/control" </dev/null
    all_controlled
    # Filter off: a terminal of its own takes it, by either form.
    layers_off step:filter terminal own own-high-bits </dev/null
    # Without the new devpts the user's terminal is there, and can be written on.
    on_terminal 'maco-run-omit --omit step:devpts,step:filter,step:landlock --no-gate -- ./hostile-terminal "pts=$(tty)" write-by-name by-name'
    grep -q "write-by-name worked" "$test_dir/screen" ||
        fail "the control of write-by-name does not work: $(cat "$test_dir/screen")"
}

# What the user sees does not become input: the shell in front gets nothing.
test_nothing_reaches_the_shell_in_front() {
    new_repo
    put terminal
    cat >"$HOME/session" <<'SESSION'
maco-run -- ./hostile-terminal "pts=$(tty)" input controlling by-name >/dev/null
IFS= read -r -n 99 -t 2 typed
printf %s "$typed" >"$1"
SESSION
    on_terminal "bash $HOME/session $HOME/typed"
    [[ -e $HOME/typed && $(cat "$HOME/typed") != *" "* ]] || fail "the terminal was typed into"
    # Control.
    sed -i 's/^maco-run -- //' "$HOME/session"
    on_terminal "bash $HOME/session $HOME/typed"
    [[ $(cat "$HOME/typed") == *" "* ]] || fail "the control does not work"
}

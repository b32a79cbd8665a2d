#!/bin/sh
# git maco worktree: repositories of others, read-only file systems, an old git, lock files, a lane that changes meanwhile.
# Contract: git-maco-worktree(1). Needs MACO_BIN, jq; mount namespaces and root for a part, which is skipped without.
# shellcheck disable=SC2119,SC2181,SC2016
set -u
# shellcheck source=tests/cli/t0005-functions.inc
. "$(dirname "$0")/t0005-functions.inc"

# apart COMMAND: a shell command in a mount namespace of its own, where this user may mount.
if [ "$(id -u)" = 0 ]; then become=-m; else become=-rm; fi
apart() { unshare $become sh -c "$1" 2>"$scratch/err"; }
if apart 'mount -t tmpfs none /mnt'; then mounts=yes; else mounts=no; fi

# Lock files of git (C34).
fresh
create alpha
: >"$repo/.git/index.lock"
: >"$repo/.git/worktrees/alpha/index.lock"
echo x >>"$lane/src/a" && run capture alpha
[ $status -eq 0 ]
check 'C34 a lock of an index keeps no capture up: that index is not read'
create beta && run remove beta
[ $status -eq 0 ]
check 'C34 nor a lane from being made and removed'
run show alpha && run accept --unverified x alpha && run apply alpha
[ $status -eq 128 ] && contains "$err" "index.lock' exists" && contains "$err" 'remove that file' && [ -e "$repo/.git/index.lock" ] && [ "$(cat "$repo/src/a")" = a ]
check 'C34 an apply does not guess whether it is stale: it says what to do, and changes nothing'
rm "$repo/.git/index.lock" && run apply alpha
[ $status -eq 0 ] && [ -e "$repo/.git/worktrees/alpha/index.lock" ]
check 'C34 and then it is applied'

# Another owner.
if [ "$(id -u)" = 0 ]; then
  fresh
  create alpha
  chown -R 65534 "$repo"
  for call in list 'create beta' 'capture alpha' 'claim alpha src' 'remove alpha'; do
    # shellcheck disable=SC2086
    run $call
    [ $status -eq 128 ] && contains "$err" 'dubious ownership' && contains "$err" safe.directory
    check "a repository of somebody else: $call"
  done
  git config --global --add safe.directory "$repo"
  for call in list 'create beta' 'capture alpha'; do
    # shellcheck disable=SC2086
    run $call
    [ $status -eq 128 ] && contains "$err" maco
    check "and state of somebody else, though git trusts it: $call"
  done
  chown -R 0 "$repo"
  run list --json
  [ $status -eq 0 ] && says '[.lanes[].name] == ["alpha"]' && [ ! -e "$lanes/beta" ] && [ -z "$(git -C "$repo" for-each-ref refs/heads/maco/beta)" ]
  check 'nothing was made'
  git config --global --unset-all safe.directory
else
  echo '# not root: repositories of others are not tried'
fi

if [ $mounts = yes ]; then
  # A read-only file system: reading works, all else is refused and changes nothing.
  fresh
  create alpha && echo x >>"$lane/src/a" && take alpha
  before=$(picture)
  cat >"$scratch/read-only" <<'S'
mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" || exit 77
shift
cd "$1" && shift && exec git-maco worktree "$@"
S
  for call in list 'show --stat alpha' 'owner src/a'; do
    # shellcheck disable=SC2086
    out=$(unshare $become sh "$scratch/read-only" "$scratch" "$repo" $call 2>&1)
    status=$?
    [ $status -eq 0 ]
    check "on a read-only file system: $call"
  done
  for call in 'create beta' 'claim alpha src' 'capture alpha' 'reject --reason x alpha' 'apply alpha' 'remove --discard alpha' 'intent --reason x alpha y' hook repair; do
    # shellcheck disable=SC2086
    err=$(unshare $become sh "$scratch/read-only" "$scratch" "$repo" $call 2>&1)
    status=$?
    [ $status -eq 128 ] && contains "$err" 'Read-only file system'
    check "on a read-only file system is refused: $call"
  done
  [ "$(picture)" = "$before" ]
  check 'and changes nothing'

  # Another git in the place of git.
  cp "$(readlink -f /usr/bin/git)" "$scratch/real-git"
  # with_git WRAPPER ARGUMENT...
  with_git() {
    wrapper=$1
    shift
    out=$(cd "$repo" && unshare $become sh -c 'mount --bind "$1" /usr/bin/git || exit 77; shift; exec git-maco worktree "$@"' sh "$wrapper" "$@" 2>"$scratch/err")
    status=$?
    err=$(cat "$scratch/err")
  }
  # It repeats options that it does not know, as git 2.30 does.
  cat >"$scratch/older" <<S
#!/bin/sh
case "\$*" in *--path-format=absolute*) echo --path-format=absolute ;; esac
exec "$scratch/real-git" "\$@"
S
  cat >"$scratch/old" <<S
#!/bin/sh
for word in "\$@"; do [ "\$word" = version ] && echo 'git version 2.34.1' && exit 0; done
exec "$scratch/real-git" "\$@"
S
  chmod +x "$scratch/older" "$scratch/old"
  fresh
  before=$(picture)
  with_git "$scratch/older" create alpha
  [ $status -eq 128 ] && contains "$err" 'git is too old' && contains "$err" 'install git'
  check 'a git that cannot answer is refused by name'
  with_git "$scratch/old" create alpha
  [ $status -eq 128 ] && contains "$err" 'git 2.34.1 is too old' && contains "$err" 'install git 2.36'
  check 'so is one that lanes cannot be made with'
  [ "$(picture)" = "$before" ] && [ ! -e "$lanes" ]
  check 'and nothing is made'

  # What happens between the two looks of a capture.
  create alpha
  cat >"$scratch/late" <<S
#!/bin/sh
case " \$* " in *" update-index "*) "$scratch/real-git" "\$@" && exec sh "$scratch/meanwhile" ;; esac
exec "$scratch/real-git" "\$@"
S
  chmod +x "$scratch/late"
  echo x >>"$lane/src/a"
  for what in "echo y >>'$lane/src/a'" "printf 'B\\n' >'$lane/src/b'; touch -r '$lane/docs/d' '$lane/src/b'" "rm '$lane/docs/d'" ": >'$lane/new'" \
    "chmod +x '$lane/src2/c'" "ln -sfn tool '$lane/link'" "mkfifo '$lane/pipe'" "mkdir '$lane/.GIT'" "mkdir -p '$lane/sub/.git'"; do
    echo "$what" >"$scratch/meanwhile"
    with_git "$scratch/late" capture alpha
    [ $status -eq 128 ] && contains "$err" 'changed while it was captured' && run show alpha && contains "$err" 'no candidate'
    check "WT-03 a change between the looks is not missed: ${what%% *}"
    rm -rf "$lane/sub" "$lane/.GIT" "$lane/pipe" && git -C "$lane" reset -q --hard && git -C "$lane" clean -qfdx && echo x >>"$lane/src/a"
  done
  echo "echo y >'$lane/local.env'" >"$scratch/meanwhile"
  with_git "$scratch/late" capture alpha
  [ $status -eq 0 ]
  check 'but for what is left out anyway'
else
  echo '# no mount namespaces: read-only file systems and another git are not tried'
fi

finish

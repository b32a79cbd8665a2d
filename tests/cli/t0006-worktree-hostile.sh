#!/bin/sh
# git maco worktree in hostile repositories: nothing that they name is run, by no command of ours.
# Each sentinel is first shown to fire with plain git. Needs MACO_BIN, jq.
# shellcheck disable=SC2119,SC2181
set -u
# shellcheck source=tests/cli/t0005-functions.inc
. "$(dirname "$0")/t0005-functions.inc"

fired=$scratch/fired
mkdir "$fired" "$scratch/bin"
# sentinel NAME: the path of a program that leaves a file in $fired; a filter passes its input on.
sentinel() {
  case $1 in *clean | *smudge) pass='cat' ;; *) pass='' ;; esac
  printf '#!/bin/sh\n: >"%s/%s"\n%s\nexit 0\n' "$fired" "$1" "$pass" >"$scratch/bin/$1"
  chmod +x "$scratch/bin/$1"
  echo "$scratch/bin/$1"
}
# fires NAME: whether it has, after which it is taken back.
fires() { [ -e "$fired/$1" ] && rm -rf "$fired" && mkdir "$fired"; }
silent() { [ -z "$(ls -A "$fired")" ]; }

# plant GIT_DIR PREFIX: every key that runs a program, with a sentinel of its own.
plant() {
  for key in core.fsmonitor core.sshCommand core.pager core.editor core.askPass core.gitProxy core.alternateRefsCommand gpg.program gpg.ssh.program \
    gpg.x509.program sequence.editor diff.external interactive.diffFilter credential.helper uploadpack.packObjectsHook \
    diff.evil.command diff.evil.textconv merge.evil.driver filter.evil.clean filter.evil.smudge filter.evil.process \
    pager.rev-list pager.status pager.diff trailer.x.command gc.recentObjectsHook mergetool.x.cmd difftool.x.cmd browser.x.cmd; do
    git config -f "$1/config" "$key" "$(sentinel "$2$key")"
  done
  for verb in add status rev-parse worktree diff-tree update-ref checkout-index read-tree maco; do
    git config -f "$1/config" "alias.$verb" "!$(sentinel "${2}alias.$verb")"
  done
  git config -f "$1/config" filter.evil.required true
  git config -f "$1/config" merge.default evil
  git config -f "$1/config" commit.gpgSign true
  git config -f "$1/config" log.showSignature true
  git config -f "$1/config" protocol.ext.allow always
  git config -f "$1/config" protocol.allow always
  git config -f "$1/config" remote.origin.url "ext::$(sentinel "${2}remote")"
  git config -f "$1/config" remote.origin.promisor true
  git config -f "$1/config" include.path evil.inc
  printf '[core]\n\tfsmonitor = %s\n\thooksPath = %s\n' "$(sentinel "${2}include.path")" "$1/evil-hooks" >"$1/evil.inc"
  mkdir -p "$1/evil-hooks" "$1/hooks"
  for hook in applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg post-commit \
    pre-rebase post-checkout post-merge pre-push post-rewrite pre-auto-gc reference-transaction post-index-change fsmonitor-watchman; do
    cp "$(sentinel "${2}hook.$hook")" "$1/hooks/$hook"
    cp "$(sentinel "${2}hooksPath.$hook")" "$1/evil-hooks/$hook"
  done
}
attributes='* filter=evil diff=evil merge=evil'

# First, that the sentinels work.
fresh
plant "$repo/.git" ''
echo x >>"$repo/src/a"
git -C "$repo" status >/dev/null 2>&1
fires include.path
check 'C22 plain git runs core.fsmonitor, by include.path'
git -C "$repo" config --unset include.path
git -C "$repo" status >/dev/null 2>&1
fires core.fsmonitor
check 'C22 plain git runs core.fsmonitor'
echo "$attributes" >"$repo/.gitattributes"
git -C "$repo" add src/a 2>/dev/null
fires filter.evil.process
check 'C22 plain git runs filter.x.process'
git -C "$repo" config --unset filter.evil.process
git -C "$repo" add src/a 2>/dev/null
fires filter.evil.clean
check 'C22 plain git runs filter.x.clean'
rm "$repo/src/b"
git -C "$repo" checkout -q src/b 2>/dev/null
fires filter.evil.smudge
check 'C22 plain git runs filter.x.smudge'
git -C "$repo" --no-pager diff HEAD >/dev/null 2>&1
fires diff.evil.command
check 'C22 plain git runs diff.x.command'
git -C "$repo" config --unset diff.evil.command
git -C "$repo" --no-pager diff --no-ext-diff HEAD >/dev/null 2>&1
fires diff.evil.textconv
check 'C22 plain git runs diff.x.textconv'
git -C "$repo" update-ref refs/x HEAD >/dev/null
[ -e "$fired/hook.reference-transaction" ] && fires hook.reference-transaction
check 'C22 plain git runs hooks'
git -C "$repo" worktree add -q --no-checkout "$scratch/plain" 2>/dev/null
[ -e "$fired/hook.post-checkout" ] || [ -e "$fired/hook.reference-transaction" ] && fires hook.reference-transaction
check 'C22 plain git worktree add runs hooks'
git -C "$repo" cat-file -t 1234567890123456789012345678901234567890 >/dev/null 2>&1
[ -e "$fired/remote" ] && fires remote
check 'C22 plain git asks a promisor for a missing object, by protocol ext'
git -C "$repo" ls-remote ssh://nowhere.invalid/x >/dev/null 2>&1
fires core.sshCommand
check 'C22 plain git runs core.sshCommand'
git -C "$repo" commit -q -m signed >/dev/null 2>&1
fires gpg.program
check 'C22 plain git runs gpg.program'

# every WHERE: each command of ours; the lane $name has changes.
every() {
  where=$1
  for call in 'list' 'list --json' 'claim alpha docs' 'owner src/a' 'owner --staged' 'intent --reason x alpha src' 'release alpha docs' \
    'capture alpha' 'capture --rehash alpha' 'show alpha' 'show --stat alpha' 'check alpha' 'accept --unverified x alpha' 'apply -n alpha' \
    'apply --commit alpha' 'repair' 'remove alpha' 'restore alpha' 'remove --discard alpha' 'gc -n' 'hook -n' \
    'create --base 1234567890123456789012345678901234567890 missing' 'create beta' 'create --private gamma' 'remove beta' 'remove gamma'; do
    # shellcheck disable=SC2086
    run $call
    case $call in
    'create --base'*) [ $status -eq 128 ] ;;
    'hook -n') [ $status -le 1 ] ;; # 1: the planted hook is in the way
    *) [ $status -eq 0 ] ;;
    esac
    check "$where: $call"
    silent
    check "C22 $where: nothing is run by $call"
    silent || { echo "#" "$fired"/*; rm -rf "$fired"; mkdir "$fired"; }
  done
}
for apply in index worktree; do
  fresh
  create alpha && echo x >>"$lane/src/a" && take alpha && plant "$repo/.git" '' && run apply --$apply alpha
  [ $status -eq 0 ] && silent
  check "C22 nothing is run by apply --$apply"
done
fresh
plant "$repo/.git" ''
create alpha
[ $status -eq 0 ] && silent
check 'C22 nothing is run by create'
echo x >>"$lane/src/a" && echo y >"$lane/src/new"
every 'config of the repository'

# Attributes that were there, and attributes that the lane brings.
fresh
plant "$repo/.git" ''
echo "$attributes" >"$repo/.git/info/attributes"
create alpha && [ $status -eq 0 ] && silent
check 'C22 attributes in info: create runs nothing'
echo x >>"$lane/src/a" && echo "$attributes" >"$lane/.gitattributes" && run capture alpha && [ $status -eq 0 ] && silent && run show alpha && contains "$out" '+x' && silent
check 'C22 attributes in info and in the lane: capture runs nothing'
run accept --unverified x alpha && run apply alpha
[ $status -eq 1 ] && contains "$err" "filter 'evil'" && silent
check 'C29 what a filter writes is not applied, and the filter is not run'
rm "$repo/.git/info/attributes" && run apply --commit alpha
[ $status -eq 0 ] && silent
check 'C22 attributes that a candidate brings: apply runs nothing'
fresh
echo "$attributes" >"$repo/.gitattributes" && save && plant "$repo/.git" ''
create alpha && [ $status -eq 0 ] && [ "$(cat "$lane/src/a")" = a ] && silent && echo x >>"$lane/src/a" && run capture alpha && [ $status -eq 0 ] && silent
check 'C22 attributes of the base: nothing is run'
run remove --discard alpha && silent
check 'C22 nor by remove'

# A private lane whose own repository was changed, a linked one whose .git was.
fresh
create alpha --private && echo x >>"$lane/src/a" && plant "$lane/.git" lane. && echo "$attributes" >"$lane/.git/info/attributes"
git -C "$lane" status >/dev/null 2>&1
[ -n "$(ls -A "$fired")" ] && rm -rf "$fired" && mkdir "$fired"
check 'C22 plain git in the lane runs what its config names'
every 'config of a private lane'
fresh
create alpha && mkdir "$scratch/elsewhere" && git init -q "$scratch/elsewhere/x" && plant "$scratch/elsewhere/x/.git" elsewhere. &&
  echo "gitdir: $scratch/elsewhere/x/.git" >"$lane/.git" && echo x >>"$lane/src/a"
git -C "$lane" status >/dev/null 2>&1
[ -n "$(ls -A "$fired")" ] && rm -rf "$fired" && mkdir "$fired"
check 'C22 plain git follows the .git file of the lane'
every 'the .git file of a lane'
fresh
create alpha && mv "$lane/.git" "$scratch/gitfile" && git init -q "$lane" && plant "$lane/.git" replaced. && echo x >>"$lane/src/a" && run capture alpha && silent && run remove --discard alpha && silent
check 'C22 a .git directory in place of the file'

# Nested repositories.
fresh
create alpha && git init -q "$lane/vendor/sub" && plant "$lane/vendor/sub/.git" nested. && echo x >"$lane/vendor/sub/x"
run capture alpha
[ $status -eq 1 ] && contains "$err" "'vendor/sub/.git'" && silent
check 'C23 a nested repository in a lane: nothing is run'
run remove alpha
[ $status -eq 1 ] && silent && run remove --discard alpha && [ $status -eq 0 ] && silent
check 'C23 nor by remove'
fresh
git init -q "$repo/sub" && git -C "$repo/sub" commit -q --allow-empty -m x && git -C "$repo" add sub 2>/dev/null && save sub
create alpha && echo x >>"$lane/src/a" && take alpha && plant "$repo/sub/.git" nested.
git -C "$repo" status >/dev/null 2>&1
[ -n "$(ls -A "$fired")" ] && rm -rf "$fired" && mkdir "$fired"
check 'C23 plain git runs what a submodule names'
run apply --commit alpha
[ $status -eq 0 ] && silent
check 'C23 a submodule in the working tree: apply runs nothing'

# C24: the variables of a hook, with every command.
fresh
git init -q "$scratch/victim" && create alpha && echo x >>"$lane/src/a"
config=$(sha256sum "$repo/.git/config" "$scratch/victim/.git/config")
index=$(sha256sum "$repo/.git/index")
GIT_DIR=$repo/.git GIT_WORK_TREE=$repo GIT_INDEX_FILE=$scratch/hook-index GIT_PREFIX=src/ GIT_OBJECT_DIRECTORY=$scratch/objects GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0=$(sentinel variable)
GIT_EXTERNAL_DIFF=$(sentinel external) GIT_SSH_COMMAND=$GIT_EXTERNAL_DIFF GIT_TRACE=$scratch/trace GIT_REPLACE_REF_BASE=refs/evil/ GIT_NAMESPACE=x GIT_LITERAL_PATHSPECS=0 GIT_GLOB_PATHSPECS=1
export GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_PREFIX GIT_OBJECT_DIRECTORY GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0 GIT_EXTERNAL_DIFF GIT_SSH_COMMAND GIT_TRACE GIT_REPLACE_REF_BASE GIT_NAMESPACE GIT_LITERAL_PATHSPECS GIT_GLOB_PATHSPECS
for call in list 'claim alpha src' 'owner src' 'capture alpha' 'show alpha' 'accept --unverified x alpha' 'check alpha' 'apply -n alpha' 'create beta' \
  'create --private gamma' 'remove beta' 'remove gamma' 'gc' 'repair'; do
  # shellcheck disable=SC2086
  run_in "$scratch/victim" $call
  [ $status -eq 0 ] && silent && [ ! -e "$scratch/hook-index" ] && [ ! -e "$scratch/objects" ] && [ "$(sha256sum "$repo/.git/config" "$scratch/victim/.git/config")" = "$config" ] && [ "$(sha256sum "$repo/.git/index")" = "$index" ]
  check "C24 the variables of a hook: $call"
done
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_PREFIX GIT_OBJECT_DIRECTORY GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0 GIT_EXTERNAL_DIFF GIT_SSH_COMMAND GIT_TRACE GIT_REPLACE_REF_BASE GIT_NAMESPACE GIT_LITERAL_PATHSPECS GIT_GLOB_PATHSPECS
[ ! -e "$scratch/victim/.git/maco" ] && [ ! -e "$scratch/victim.lanes" ]
check 'C24 nothing lands in the directory where the hook stands'

finish

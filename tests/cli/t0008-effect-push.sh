#!/bin/sh
# git maco effect push: over a path and over HTTP, what it refuses, what a crash leaves, what people decide.
# Contract: git-maco-effect(1), docs/formats/effect.md. Needs MACO_BIN, jq, python3.
# shellcheck disable=SC2154,SC2181
set -u
# shellcheck source=tests/cli/t0008-functions.inc
. "$(dirname "$0")/t0008-functions.inc"
start_git_server

# push ARGS...: with no time to settle.
push() { run push --settle 0 "$@"; }
# begin COMMAND...: in the background in $repo, in a session of its own; $client.
begin() {
  (cd "$repo" && exec setsid "$MACO_BIN/maco-effect" "$@" >"$scratch/begun" 2>"$scratch/err") &
  client=$!
}
# cut: ends the client and all that it started, as a power cut does.
cut_off() {
  kill -9 "-$client"
  wait "$client" 2>/dev/null
}

# --- a path
fresh
remote plain
git -C "$repo" remote add origin "$bare"
push origin main:fx/one
[ $status -eq 0 ] && contains "$out" completed && [ "$(ref fx/one)" = "$oid" ] && [ -z "$err" ]
check 'a new branch'
first=$out id=$(id_of)
push origin main:fx/one
[ $status -eq 0 ] && [ "$out" = "$first" ] && [ "$(effects)" = 1 ] && [ "$(state_of "$id" attempts)" = 1 ]
check 'EFF-01 the same again reports the same receipt'
run push --settle 0 origin main:refs/heads/fx/one
[ $status -eq 0 ] && [ "$out" = "$first" ]
check 'the full name of a ref is the same effect'
old=$oid
commit two
push --json origin main:fx/one
[ $status -eq 0 ] && says '.schema == "maco.effect-view/1" and .state == "completed" and .attempts == 1' && says ".receipt.id == \"refs/heads/fx/one@$oid\"" && [ "$(ref fx/one)" = "$oid" ]
check 'forward, as a document'
git -C "$repo" checkout -q -b aside "$old" && commit aside && aside=$oid
push origin aside:fx/one
[ $status -eq 1 ] && contains "$err" 'does not contain' && [ "$(ref fx/one)" != "$aside" ] && [ "$(effects)" = 2 ]
check 'what would lose commits is refused, and nothing is on record'
push --expect "$old" origin aside:fx/one
[ $status -eq 1 ] && contains "$err" "not at $old" && [ "$(ref fx/one)" != "$aside" ]
check '--expect of something else is refused'
push --expect none origin aside:fx/one
[ $status -eq 1 ] && contains "$err" 'not absent' && [ "$(ref fx/one)" != "$aside" ]
check '--expect none where there is something'
push --expect "$(ref fx/one)" origin aside:fx/one
[ $status -eq 0 ] && [ "$(ref fx/one)" = "$aside" ]
check '--expect with the right value replaces'
push --expect main origin aside:fx/one
[ $status -eq 129 ]
check '--expect takes a full object id'
push --expect none origin aside:fx/new
[ $status -eq 0 ] && [ "$(ref fx/new)" = "$aside" ]
check '--expect none where there is nothing'
for refspec in :fx/one +aside:fx/one aside: aside 'aside:fx/..x' 'aside:fx one' '-x:y' aside:fx.lock 'aside:a*' aside:.fx aside:fx/.x aside:a.lock/b aside:fx. aside:fx//x aside:fx/ 'aside:a@{b' aside:@ 'aside:a\b' aside:refs/heads/.x; do
  push origin "$refspec"
  [ $status -eq 129 ] && [ -n "$err" ] || { echo "# $refspec: $status $err" && false; } || break
done
[ $status -eq 129 ] && [ "$(effects)" = 4 ]
check 'no deleting, no forcing, no odd refs, and nothing is on record'
push origin nowhere:fx/x
[ $status -eq 1 ] && contains "$err" 'nowhere' && [ -z "$(ref fx/x)" ]
check 'a source that is not there'
push nowhere main:fx/x
[ $status -eq 1 ] && contains "$err" 'no remote'
check 'a remote that is not there'
push "$scratch/none.git" main:fx/x
[ $status -eq 1 ] && contains "$err" 'does not answer' && [ "$(effects)" = 4 ]
check 'a remote that does not answer: nothing is on record'

# --- the identity
push --action rel origin main:fx/rel
[ $status -eq 0 ] && contains "$(run show "$(id_of)"; echo "$out")" 'action     rel'
check 'an action of the caller'
push --action rel origin aside:fx/rel
[ $status -eq 1 ] && contains "$err" 'other content' && contains "$err" '@REV' && [ "$(ref fx/rel)" != "$aside" ]
check 'EFF-01 one action does not mean two contents'
push --action rel@2 --expect "$(ref fx/rel)" origin aside:fx/rel
[ $status -eq 0 ] && [ "$(ref fx/rel)" = "$aside" ]
check 'another revision of it does'

# --- plan and send
run plan push origin main:fx/plan
[ $status -eq 0 ] && contains "$out" planned && [ -z "$(ref fx/plan)" ]
check 'a plan sends nothing'
plan=$(id_of) before=$out
run push --plan origin main:fx/plan
[ $status -eq 0 ] && [ "$out" = "$before" ]
check 'planned again it is the same plan'
run list
contains "$out" "git maco effect send $plan"
check 'the list says how it goes on'
run send --settle 0 -n "$plan"
[ $status -eq 0 ] && contains "$out" "would send effect $plan" && [ -z "$(ref fx/plan)" ] && [ "$(state_of "$plan" state)" = planned ]
check 'send: a dry run'
run send --settle 0 "$plan"
[ $status -eq 0 ] && [ "$(id_of)" = "$plan" ] && [ -n "$(ref fx/plan)" ]
check 'a plan is sent'
run send --settle 0 "$plan"
[ $status -eq 0 ] && contains "$out" completed && [ "$(state_of "$plan" attempts)" = 1 ]
check 'sent again it is not sent again'
main=$(git -C "$repo" rev-parse main)
picture() { (cd "$repo/.git/maco" && find . -type f -print0 | sort -z | xargs -0 sha256sum); }
seen=$(picture)
run push -n --json origin main:fx/dry
says ".schema == \"maco.effect-request/1\" and .request == {url: \"$bare\", refspec: \"$main:refs/heads/fx/dry\", expected: null} and .operation == \"push\" and .transport == \"git\" and .repository == \"$bare\" and .candidate == \"\" and .evidence == []" && [ $status -eq 0 ] && [ -z "$(ref fx/dry)" ] && [ "$(picture)" = "$seen" ]
check 'a dry run prints the exact request and writes nothing'
dry=$(printf %s "$out" | jq -r .id)
push --json origin main:fx/dry
says ".id == \"$dry\"" && [ $status -eq 0 ]
check 'what is sent is what the dry run said'
run show "$(printf %s "$dry" | cut -c1-8)"
[ $status -eq 0 ] && contains "$out" "refs/heads/fx/dry@$main"
check 'show takes the beginning of an id'
run show zzzz
[ $status -eq 128 ]
check 'show of something else'
run list -z
[ $status -eq 0 ] && [ "$(cd "$repo" && "$MACO_BIN/git-maco" effect list -z | tr -cd '\000' | wc -c)" = "$(effects)" ]
check 'list -z'

# --- settings and hooks of the repository itself
fresh
remote target
remote trap && trap_bare=$bare
bare=$root/acme/target.git url=http://127.0.0.1:$git_port/acme/target.git
git -C "$repo" remote add origin "$url"
git -C "$repo" tag -a -m t v1
fired=$scratch/fired
mkdir "$scratch/evil"
printf '#!/bin/sh\ntouch %s\nexit 1\n' "$fired" >"$scratch/evil/pre-push"
for name in pre-push reference-transaction post-checkout fsmonitor proxy ssh helper askpass pager gpg update; do
  cp "$scratch/evil/pre-push" "$scratch/evil/$name" 2>/dev/null
  cp "$scratch/evil/pre-push" "$repo/.git/hooks/$name"
done
chmod +x "$scratch/evil/"* "$repo/.git/hooks/"*
set -- "url.$trap_bare.insteadOf" "$url" "url.$trap_bare.pushInsteadOf" "$url" core.hooksPath "$scratch/evil" \
  core.fsmonitor "$scratch/evil/fsmonitor" credential.helper "!$scratch/evil/helper" core.sshCommand "$scratch/evil/ssh" \
  core.askPass "$scratch/evil/askpass" core.gitProxy "$scratch/evil/proxy" http.proxy http://127.0.0.1:1 \
  https.proxy http://127.0.0.1:1 http.extraHeader 'X-Evil: yes' http.cookieFile "$scratch/evil/cookie" \
  push.gpgSign true gpg.program "$scratch/evil/gpg" core.pager "$scratch/evil/pager" push.pushOption evil \
  push.followTags true remote.origin.receivepack "$scratch/evil/ssh" remote.origin.proxy http://127.0.0.1:1 \
  remote.origin.mirror true remote.origin.vcs evil core.alternateRefsCommand "$scratch/evil/ssh" \
  uploadpack.packObjectsHook "$scratch/evil/ssh" extensions.worktreeConfig true
while [ $# -gt 0 ]; do
  git -C "$repo" config "$1" "$2"
  shift 2
done
rm -f "$fired" # by our own git
push origin main:fx/one
[ $status -eq 0 ] && [ ! -e "$fired" ] && [ "$(ref fx/one)" = "$oid" ] && [ "$(git --git-dir "$bare" for-each-ref | wc -l)" = 1 ] && [ -z "$(git --git-dir "$trap_bare" for-each-ref)" ]
check 'C44 nothing of the repository'\''s own settings or hooks has a say'
! grep -q X-Evil "$root/requests.jsonl"
check 'nor a header of it'
run verify
[ $status -eq 0 ] && [ ! -e "$fired" ]
check 'nor in a look at what was pushed'
GIT_SSH_COMMAND="$scratch/evil/ssh" GIT_ASKPASS="$scratch/evil/askpass" GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0="url.$trap_bare.insteadOf" GIT_CONFIG_VALUE_0="$url" GIT_TRACE="$scratch/trace" GIT_PROXY_COMMAND="$scratch/evil/proxy" \
  push origin main:fx/env
[ $status -eq 0 ] && [ ! -e "$fired" ] && [ "$(ref fx/env)" = "$oid" ] && [ ! -e "$scratch/trace" ]
check 'nor variables of git in the environment'
git config --global "url.$trap_bare.insteadOf" "http://127.0.0.1:$git_port/acme/elsewhere"
push "http://127.0.0.1:$git_port/acme/elsewhere" main:fx/one
[ $status -eq 0 ] && [ -n "$(git --git-dir "$trap_bare" for-each-ref refs/heads/fx/one)" ]
check 'the operator'\''s own settings do'
git config --global --unset "url.$trap_bare.insteadOf"

# --- URLs
for bad in https://bob:secret@example.org/a/b https://tok@example.org/a/b http://x:secret@127.0.0.1:1/a ssh://u:secret@example.org/a ftp://u:secret@example.org/a; do
  push "$bad" main:fx/x
  [ $status -eq 1 ] && contains "$err" credentials && ! contains "$err$out" secret || { echo "# $bad: $status" && false; } || break
done
check 'a URL with credentials is refused, and not repeated'
for bad in 'ext::sh -c touch% fired' fd::3 foo::bar 'ext::x://y'; do
  push "$bad" main:fx/x
  [ $status -eq 1 ] && contains "$err" 'remote helper' || { echo "# $bad: $status" && false; } || break
done
check 'a remote helper is refused'
push --settle 0 -- '--upload-pack=touch fired' main:fx/x
[ $status -eq 1 ] && [ ! -e "$repo/fired" ]
check 'a remote that looks like an option is refused'
git -C "$repo" config remote.evil.url 'ext::sh -c touch% fired'
push evil main:fx/x
[ $status -eq 1 ] && [ "$(effects)" = 3 ]
check 'and so is one by its name'

# --- the server says no
fresh
remote no
git -C "$repo" remote add origin "$url"
printf '#!/bin/sh\necho "no: \033[31mbranch is protected"\nexit 1\n' >"$bare/hooks/pre-receive"
chmod +x "$bare/hooks/pre-receive"
push origin main:fx/one
[ $status -eq 1 ] && contains "$out$err" 'pre-receive hook declined' && [ -z "$(ref fx/one)" ] && [ "$(posts)" = 1 ] && ! contains "$out$err" "$(printf '\033')"
check 'a hook of the server declines: certainly not applied'
id=$(id_of)
[ "$(state_of "$id" state)" = failed ] && [ "$(state_of "$id" attempts)" = 1 ]
check 'and so it is on record'
rm "$bare/hooks/pre-receive"
run send --settle 0 "$id"
[ $status -eq 0 ] && [ "$(ref fx/one)" = "$oid" ] && [ "$(posts)" = 2 ] && [ "$(state_of "$id" attempts)" = 2 ]
check 'then it is sent at the operator'\''s word, as attempt 2'
git --git-dir "$bare" config receive.denyNonFastForwards true
git -C "$repo" checkout -q --orphan other && commit other
push --expect "$(ref fx/one)" origin other:fx/one
[ $status -eq 1 ] && [ "$(ref fx/one)" != "$oid" ] && contains "$err$out" 'non-fast-forward'
check 'so does its own rule'
echo wrong >"$scratch/git-token"
push origin other:fx/auth
[ $status -eq 1 ] && contains "$err" 'does not answer' && ! contains "$err$out" tok-git
check 'a password that is not taken: nothing is on record'
echo tok-git >"$scratch/git-token"
printf 'http://bob:tok-git@127.0.0.1:%s\n' "$git_port" >"$HOME/credentials"

# --- a server that does not know all of the protocol
fresh
remote plainer
git -C "$repo" remote add origin "$url"
git --git-dir "$bare" config receive.advertiseAtomic false
push origin main:fx/one
[ $status -eq 0 ] && contains "$out" completed && [ "$(ref fx/one)" = "$oid" ]
check 'without atomic pushes one ref is pushed as well'

# --- the ref moves between the look and the push
fresh
remote race
git -C "$repo" remote add origin "$url"
push origin main:fx/one && base=$oid
commit ahead && ahead=$oid
git --git-dir "$bare" fetch -q "$repo" main
other=$(git --git-dir "$bare" commit-tree -p "$base" -m other "$(git --git-dir "$bare" rev-parse "$base^{tree}")")
hold arm pre
begin push --settle 0 origin main:fx/one
hold wait pre
git --git-dir "$bare" update-ref refs/heads/fx/one "$other"
hold release pre
wait "$client"
status=$? out=$(cat "$scratch/begun") err=$(cat "$scratch/err")
[ $status -eq 1 ] && [ "$(ref fx/one)" = "$other" ] && [ "$(state_of "$(id_of)" state)" = failed ]
check 'a race that is lost: certainly not applied, the other one stays'
git --git-dir "$bare" update-ref refs/heads/fx/one "$ahead"
run send --settle 0 "$(id_of)"
[ $status -eq 0 ] && contains "$out" completed
check 'what is there already is reported as done'

# --- crashes: the client goes, the server goes on
fresh
remote crash
git -C "$repo" remote add origin "$url"
hold arm pre
begin push --settle 0 origin main:fx/one
hold wait pre
cut_off
run list --json
says '.effects | length == 1 and .[0].state == "started" and .[0].sight == "uncertain"'
check 'killed before the ref moved: uncertain'
id=$(printf %s "$out" | jq -r '.effects[0].id')
run recover
[ $status -eq 122 ] && contains "$out" uncertain && contains "$err" reconcile && [ -z "$(ref fx/one)" ]
check 'recover does not see it, and does not push'
push origin main:fx/one
[ $status -eq 122 ] && [ "$(posts)" = 1 ]
check 'neither does the same push again'
hold arm post
hold release pre
hold wait post
[ "$(ref fx/one)" = "$oid" ]
check 'the server lets it in later'
run recover "$id"
[ $status -eq 0 ] && contains "$out" completed && [ "$(state_of "$id" attempts)" = 1 ] && [ "$(posts)" = 1 ]
check 'C39 recover adopts it'
hold release post
run recover
[ $status -eq 0 ] && [ -z "$out" ]
check 'recover with nothing to do'

commit second
hold arm post
begin push --settle 0 origin main:fx/one
hold wait post
cut_off
[ "$(ref fx/one)" = "$oid" ]
run recover --json
[ $status -eq 0 ] && says '.effects | length == 1 and .[0].state == "completed"' && [ "$(posts)" = 2 ]
check 'killed after the ref moved: adopted'
hold release post

commit third
hold arm pre
begin push --settle 0 origin main:fx/one
hold wait pre
kill -9 "$client"
wait "$client" 2>/dev/null
hold refuse pre
run recover
[ $status -eq 122 ] && [ "$(ref fx/one)" != "$oid" ] && [ "$(posts)" = 3 ]
check 'only the tool was killed, and the server declined: uncertain, never sent again'
run recover
[ $status -eq 122 ] && [ "$(posts)" = 3 ]
check 'however often it is asked'
run list --json
id=$(printf %s "$out" | jq -r '.effects[] | select(.state == "started") | .id')
run reconcile --adopt "$oid" "$id"
[ $status -eq 1 ] && contains "$err" 'does not fit' && [ "$(state_of "$id" state)" = started ]
check 'a receipt that is not there is not adopted without a note'
run reconcile --adopt "$(ref fx/one)" "$id"
[ $status -eq 1 ] && contains "$err" 'does not fit' && [ "$(state_of "$id" state)" = started ]
check 'nor is what the ref had before'
run reconcile --abandon "$id"
[ $status -eq 129 ] && run reconcile --abandon --note 'the server declined' -n "$id" && [ "$(state_of "$id" state)" = started ]
check 'to abandon needs a note; a dry run does nothing'
run reconcile --abandon --note 'the server declined' "$id"
[ $status -eq 0 ] && [ "$(state_of "$id" state)" = abandoned ] && [ "$(state_of "$id" note)" = 'the server declined' ]
check 'abandoned'
push origin main:fx/one
[ $status -eq 1 ] && contains "$err" abandoned && [ "$(posts)" = 3 ] && [ "$(ref fx/one)" != "$oid" ]
check 'what was abandoned is not done, and is not sent'
push --action again origin main:fx/one
[ $status -eq 0 ] && [ "$(ref fx/one)" = "$oid" ] && [ "$(posts)" = 4 ]
check 'another action is'
run reconcile --abandon --note no "$(id_of)"
[ $status -eq 1 ] && contains "$err" completed
check 'what is completed is not abandoned'

# --- connections that end
for fault in drop-request drop-answer status-503; do
  commit "$fault"
  before=$(posts)
  hold fault "$fault"
  push origin main:fx/one
  [ "$(posts)" = $((before + 1)) ]
  check "$fault: the push is sent once"
  if [ $fault = drop-answer ]; then
    [ $status -eq 0 ] && contains "$out" completed && [ "$(ref fx/one)" = "$oid" ]
    check "$fault: it is found there"
  else
    [ $status -eq 122 ] && [ "$(ref fx/one)" != "$oid" ] && run recover && [ $status -eq 122 ] && [ "$(posts)" = $((before + 1)) ]
    check "$fault: uncertain, and not sent again"
    run reconcile --abandon --note "$fault" "$(id_of)"
    git -C "$repo" reset -q --hard "$(ref fx/one)"
  fi
done

# --- what becomes of it
fresh
remote later
git -C "$repo" remote add origin "$url"
push origin main:fx/one && id=$(id_of) && one=$oid
run verify --json "$id"
[ $status -eq 0 ] && says '.schema == "maco.effect-verdicts/1" and .effects[0].verdict == "same"'
check 'verify: as it was'
commit next && git -C "$repo" push -q origin main:fx/one
run verify --json
[ $status -eq 0 ] && says '.effects[0].verdict == "later" and (.effects[0].words | startswith("superseded"))'
check 'EFF-04 verify: superseded'
git -C "$repo" checkout -q --orphan alone && commit alone && git -C "$repo" push -q -f origin alone:fx/one
run verify --json
[ $status -eq 1 ] && says '.effects[0].verdict == "changed"'
check 'verify: moved to what does not contain it'
git -C "$repo" push -q origin :fx/one
run verify
[ $status -eq 1 ] && contains "$out" gone && contains "$out" deleted
check 'verify: deleted'
push origin "$one:fx/one"
[ $status -eq 0 ] && [ -z "$(ref fx/one)" ] && [ "$(posts)" -le 4 ]
check 'EFF-04 what was deleted there is not made again'

# --- archives
run archive --max-age 0 -n
[ $status -eq 0 ] && contains "$out" 'would archive 1' && [ "$(effects)" = 1 ]
check 'archive: a dry run'
run archive --max-age 0
[ $status -eq 0 ] && [ "$(effects)" = 0 ]
check 'EFF-05 archive: the log is empty'
run list --all --json
says ".effects | length == 1 and .[0].id == \"$id\" and .[0].receipt.id == \"refs/heads/fx/one@$one\""
check 'and the receipt is kept'
run show "$id"
[ $status -eq 0 ] && contains "$out" "refs/heads/fx/one@$one"
check 'show finds it there'
before=$(posts)
push origin "$one:fx/one"
[ $status -eq 1 ] && contains "$err" archive && [ "$(posts)" = "$before" ] && [ -z "$(ref fx/one)" ]
check 'it is not sent again'
push --action act origin "$one:fx/two" && run archive --max-age 0 && push --action act origin "alone:fx/two"
[ $status -eq 1 ] && contains "$err" 'other content' && [ "$(ref fx/two)" = "$one" ]
check 'nor is the action with other content'
push --action third origin "$one:fx/three" && run archive --json --max-age 0
[ $status -eq 0 ] && says '.archive == "000003" and (.effects | length == 1)'
check 'the next archive has the next number'
archive=$repo/.git/maco/effects/archive-000001.log
cp "$archive" "$scratch/archive"
rm "$archive"
run list --all
[ $status -eq 1 ] && contains "$err" missing && contains "$out" fx/three
check 'an archive that is missing is told, the others are shown'
push --action new origin "$one:fx/new"
[ $status -ne 0 ] && [ -z "$(ref fx/new)" ]
check 'and nothing new is sent: it might have been in there'
cp "$scratch/archive" "$archive"
chmod 600 "$archive"
size=$(stat -c %s "$archive")
printf x | dd of="$archive" bs=1 seek=$((size / 2)) conv=notrunc status=none
run list --all
[ $status -eq 1 ] && [ -n "$err" ]
check 'nor is one with a flipped byte taken'
cp "$repo/.git/maco/effects/archive-000002.log" "$archive"
run list --all
[ $status -eq 1 ] && [ -n "$err" ]
check 'or another one in its place'
cp "$scratch/archive" "$archive"
push --action new origin "$one:fx/new"
[ $status -eq 0 ] && [ "$(ref fx/new)" = "$one" ]
check 'the right one back in its place is taken'
mkdir "$repo/.git/maco/publications" && echo '{"id": 1}' >"$repo/.git/maco/publications/1.json"
run list
[ $status -eq 0 ] && contains "$err" 'older tool' && [ -e "$repo/.git/maco/publications/1.json" ]
check 'EFF-06 entries of an older tool are told and left'

# --- other kinds of repositories
fresh --object-format=sha256
remote sha256 --object-format=sha256
git -C "$repo" remote add origin "$url"
push origin main:fx/one
[ $status -eq 0 ] && [ "$(ref fx/one)" = "$oid" ] && [ ${#oid} -eq 64 ]
check 'a repository with SHA-256'
first=$out
push origin main:fx/one
[ "$out" = "$first" ] && run verify && [ $status -eq 0 ]
check 'the same again, and verified'
work=$repo
repo=$scratch/bare.git
git clone -q --bare "$scratch/repo1" "$repo" && (cd "$repo" && "$MACO_BIN/git-maco" init -q) >/dev/null
remote from-bare
git -C "$repo" remote remove origin 2>/dev/null
git -C "$repo" remote add origin "$url"
push origin main:fx/one
[ $status -eq 0 ] && [ "$(ref fx/one)" = "$(git -C "$repo" rev-parse main)" ]
check 'from a bare repository'
repo=$work
fresh
remote linked
git -C "$repo" remote add origin "../root/acme/linked.git"
git -C "$repo" worktree add -q "$repo.linked" -b linked
home=$repo repo=$repo.linked
commit linked
push origin HEAD:fx/one
[ $status -eq 0 ] && [ "$(ref fx/one)" = "$oid" ]
check 'from a linked worktree, by a relative URL'
repo=$home
run list
contains "$out" fx/one
check 'it is on record in the repository'
mkdir "$repo/deep" && remote_url=$(git -C "$repo" config remote.origin.url)
out=$(cd "$repo/deep" && git-maco effect push --settle 0 origin linked:fx/deep 2>&1)
status=$?
[ $status -eq 0 ] && [ -n "$remote_url" ] && [ "$(ref fx/deep)" = "$oid" ]
check 'from a directory below'
blob=$(printf 'tree %s\nauthor x <x> 1 +0000\ncommitter x <x> 1 +0000\n\nbad\000mail\n' "$(git -C "$repo" rev-parse HEAD^{tree})" | git -C "$repo" hash-object -t commit -w --stdin --literally)
push origin "$blob:fx/bad"
[ $status -eq 1 ] && contains "$err" 'git fsck' && [ -z "$(ref fx/bad)" ]
check 'objects that git fsck finds fault with are not taken'

# --- many at once
fresh
remote many
git -C "$repo" remote add origin "$url"
at_once() { # COMMAND NUMBER: 16 of them; what they said is in $scratch/said.N
  pids='' i=0
  while [ $i -lt 16 ]; do
    (cd "$repo" && "$MACO_BIN/maco-effect" push --settle 0 origin "main:fx/$1" >"$scratch/said.$i" 2>&1) &
    pids="$pids $!"
    i=$((i + 1))
    [ "$1" = same ] || { set -- "$i"; }
  done
  bad=0
  for pid in $pids; do wait "$pid" || bad=$((bad + 1)); done
}
at_once same
[ $bad -eq 0 ] && [ "$(cat "$scratch"/said.* | sort -u | wc -l)" = 1 ] && [ "$(posts)" = 1 ] && [ "$(effects)" = 1 ]
status=$bad out=$(cat "$scratch"/said.*)
check '16 processes with the same push: one push, the same receipt'
at_once 0
[ $bad -eq 0 ] && [ "$(posts)" = 17 ] && [ "$(effects)" = 17 ]
status=$bad out=$(cat "$scratch"/said.*) err=$(posts)
check '16 different ones: all of them'
[ -z "$(find "$repo/.git/maco/effects" -name '????????????????????????????????.lock')" ]
check 'no lock is left behind'
pids='' i=0
while [ $i -lt 16 ]; do
  (cd "$repo" && "$MACO_BIN/maco-effect" archive --max-age 0 >"$scratch/said.$i" 2>&1) &
  pids="$pids $!"
  i=$((i + 1))
done
bad=0
for pid in $pids; do wait "$pid" || bad=$((bad + 1)); done
run list --all --json
[ $bad -eq 0 ] && [ $status -eq 0 ] && says '.effects | length == 17' && [ "$(effects)" = 0 ] && [ "$(cat "$scratch"/said.* | grep -c 'archived 17')" = 1 ]
check 'EFF-05 16 that archive at once: one does, and its archive is whole'
[ -z "$(find "$repo/.git/maco/effects" -name 'archive.lock')" ]
check 'nor is the lock of archiving'

# --- a lane's result
if [ -x "$MACO_BIN/maco-worktree" ]; then
  lane() { (cd "$repo" && "$MACO_BIN/git-maco" worktree "$@"); }
  fresh
  remote lane
  git -C "$repo" remote add origin "$url"
  echo a >"$repo/a" && git -C "$repo" add a && git -C "$repo" commit -q -m base
  lane create alpha >/dev/null && echo more >>"$repo.lanes/alpha/a" && candidate=$(lane capture alpha)
  lane show --json alpha >"$scratch/view"
  push --from "$scratch/view" origin
  [ $status -eq 1 ] && contains "$err" 'not accepted' && [ "$(effects)" = 0 ]
  check 'a candidate that is not accepted is refused'
  lane accept --unverified 'read it' alpha >/dev/null 2>"$scratch/err" || lane accept alpha >/dev/null
  out=$(lane show alpha --json | (cd "$repo" && git-maco effect push --settle 0 --from - origin 2>&1))
  status=$?
  branch=maco/alpha/$(printf %s "$candidate" | cut -c1-12)
  [ $status -eq 0 ] && [ "$(git --git-dir "$bare" show "$branch:a")" = "a
more" ] && [ "$(git --git-dir "$bare" rev-parse "$branch^")" = "$(git -C "$repo" rev-parse main)" ]
  check 'an accepted one is pushed, by a pipe'
  id=$(id_of) first=$out pushed=$(ref "$branch")
  [ "$(state_of "$id" candidate)" = "$candidate" ]
  check 'EFF-07 the effect names the candidate'
  push --from "$scratch/view" origin
  [ $status -eq 0 ] && [ "$out" = "$first" ] && [ "$(posts)" = 1 ] && [ "$(ref "$branch")" = "$pushed" ]
  check 'the same again: the same commit, the same receipt'
  push --from "$scratch/view" origin :fx/named
  [ $status -eq 0 ] && [ "$(ref fx/named)" = "$pushed" ]
  check 'to a branch of another name'
  push --from "$scratch/view" origin main:fx/x
  [ $status -eq 129 ] && [ -z "$(ref fx/x)" ]
  check 'not with another source'
  jq '.candidate = "0123456789abcdef0123456789abcdef"' "$scratch/view" >"$scratch/forged"
  push --from "$scratch/forged" origin
  [ $status -ne 0 ] && [ "$(posts)" = 2 ]
  check 'what a document says is not believed'
  jq '.lane = "../../x"' "$scratch/view" >"$scratch/forged"
  push --from "$scratch/forged" origin
  [ $status -ne 0 ] && jq '.schema = "x"' "$scratch/view" >"$scratch/forged" && push --from "$scratch/forged" origin
  [ $status -ne 0 ] && echo '{' >"$scratch/forged" && push --from "$scratch/forged" origin
  [ $status -ne 0 ] && [ "$(posts)" = 2 ]
  check 'nor are odd documents'
  mkfifo "$repo.lanes/alpha/pipe" && lane capture alpha >/dev/null 2>&1
  push --from "$scratch/view" origin :fx/tainted
  [ $status -eq 1 ] && contains "$err" tainted && [ -z "$(ref fx/tainted)" ]
  check 'WT-08 nor anything of a lane that is tainted'
  rm "$repo.lanes/alpha/pipe" && lane repair --untaint mended alpha >/dev/null
  echo changed >>"$repo.lanes/alpha/a" && lane capture alpha >/dev/null
  push --from "$scratch/view" origin :fx/late
  [ $status -eq 1 ] && contains "$err" 'another candidate' && [ -z "$(ref fx/late)" ]
  check 'nor one of a lane that has another candidate now'
else
  skip "a lane's result" 'maco-worktree was not built'
fi

# --- the hook
fresh
remote hook
git -C "$repo" remote add origin "$url"
run hook -n
[ $status -eq 0 ] && [ ! -e "$repo/.git/hooks/pre-push" ]
check 'hook: a dry run'
run hook
[ $status -eq 0 ] && [ -x "$repo/.git/hooks/pre-push" ] && run hook && [ $status -eq 0 ]
check 'hook: installed, once'
git -C "$repo" push -q origin main 2>"$scratch/err"
status=$?
[ $status -eq 0 ]
check 'a branch of nobody'\''s lane is pushed as ever'
mv "$repo/.git/maco" "$scratch/aside"
git -C "$repo" push -q origin main:fx/two 2>"$scratch/err"
status=$? err=$(cat "$scratch/err")
[ $status -eq 0 ] && [ -z "$err" ] && [ "$(ref fx/two)" = "$oid" ]
check 'so is any branch of a repository without state'
mv "$scratch/aside" "$repo/.git/maco"
echo '#!/bin/sh' >"$repo/.git/hooks/pre-push"
run hook
[ $status -eq 1 ] && [ "$(cat "$repo/.git/hooks/pre-push")" = '#!/bin/sh' ]
check 'a hook of somebody else is left alone'
finish

#!/bin/sh
# git maco effect pr create --from: a lane's branch is pushed, then the pull request is opened; one document is printed.
# Contract: git-maco-effect(1). Needs MACO_BIN, jq, curl, python3.
# shellcheck disable=SC2154,SC2181
set -u
# shellcheck source=tests/cli/t0008-functions.inc
. "$(dirname "$0")/t0008-functions.inc"
if [ ! -x "$MACO_BIN/maco-worktree" ]; then
  skip 'a pull request of a lane' 'maco-worktree was not built'
  finish
fi
start_git_server
printf '{"users": [{"login": "bob", "tokens": ["tok-forge"]}], "repos": [{"forge": "github", "full_name": "acme/lane", "permissions": {"bob": "write"}}]}' >"$scratch/seed.json"
mkfifo "$scratch/forge-ready"
"$support/forge/forge" --dir "$scratch/forge" --ready "$scratch/forge-ready" --seed "$scratch/seed.json" --git-root "$root" &
started="$started $!"
port=$(timeout 30 cat "$scratch/forge-ready")
host=127.0.0.1:$git_port
echo tok-forge >"$scratch/token"
chmod 600 "$scratch/token"
git config --global "maco.forge.$host.provider" github
git config --global "maco.forge.$host.api" "http://127.0.0.1:$port/api/v3"
git config --global "maco.forge.$host.token" "file:$scratch/token"

lane() { (cd "$repo" && "$MACO_BIN/git-maco" worktree "$@"); }
created() { curl -s "http://127.0.0.1:$port/__admin/count?kind=pull.create"; }
# documents: how many there are in $out.
documents() { printf %s "$out" | jq -s length; }
fresh
remote lane
git -C "$repo" remote add origin "$url"
git -C "$repo" push -q origin main
echo a >"$repo/a" && git -C "$repo" add a && git -C "$repo" commit -q -m base && git -C "$repo" push -q origin main
lane create alpha >/dev/null && echo more >>"$repo.lanes/alpha/a" && candidate=$(lane capture alpha)
lane show alpha >/dev/null && lane accept --unverified 'read it' alpha >/dev/null 2>&1 || lane accept alpha >/dev/null
lane show --json alpha >"$scratch/view"
branch=maco/alpha/$(printf %s "$candidate" | cut -c1-12)
pr() { run pr create --settle 0 --from "$scratch/view" "$@"; }

pr -n --json
[ $status -eq 0 ] && [ "$(documents)" = 1 ] && says ".operation == \"pr\" and .request.body.head == \"$branch\" and (.before | length == 1) and .before[0].operation == \"push\"" && [ "$(effects)" = 0 ]
check 'a dry run prints one document, with the push that comes before'
pr -n
[ $status -eq 0 ] && [ "$(printf '%s\n' "$out" | grep -c 'would send effect')" = 2 ]
check 'or both for people'
pr --head other
[ $status -eq 129 ] && contains "$err" '--head' && [ "$(effects)" = 0 ]
check 'another head is wrong usage: nothing would be pushed for it'
pr --repository "127.0.0.1:$git_port/acme/other"
[ $status -eq 129 ] && contains "$err" 'acme/other' && contains "$err" '--remote' && [ "$(effects)" = 0 ]
check 'nor is it pushed to one repository and opened in another'
pr --repository "127.0.0.1:1/acme/other"
[ $status -eq 129 ] && contains "$err" 'acme/other' && [ "$(effects)" = 0 ]
check 'whatever the port: that of git is seldom that of the API'
pr -n --repository "127.0.0.1:$git_port/acme/LANE"
[ $status -eq 0 ]
check 'the same repository may be named, whatever its case'
pr --plan --json
[ $status -eq 0 ] && [ "$(documents)" = 1 ] && says '.operation == "pr" and .state == "planned"' && [ "$(effects)" = 2 ] && [ -z "$(ref "$branch")" ]
check 'a plan prints one document, and both are planned'
printf '#!/bin/sh\nexit 1\n' >"$bare/hooks/pre-receive" && chmod +x "$bare/hooks/pre-receive"
pr --json
[ $status -eq 1 ] && [ "$(documents)" = 1 ] && says '.operation == "push" and .state == "failed"' && [ "$(created)" = 0 ]
check 'a push that is declined is the one document, and nothing is opened'
rm "$bare/hooks/pre-receive"
run send --settle 0 "$(printf %s "$out" | jq -r .id)"
pr --json
[ $status -eq 0 ] && [ "$(documents)" = 1 ] && says '.operation == "pr" and .state == "completed"' && [ -n "$(ref "$branch")" ] && [ "$(created)" = 1 ]
check 'both done, one document'
pr
[ $status -eq 0 ] && [ "$(printf '%s\n' "$out" | grep -c completed)" = 2 ] && [ "$(created)" = 1 ]
check 'the same again: both receipts, nothing is sent'
finish

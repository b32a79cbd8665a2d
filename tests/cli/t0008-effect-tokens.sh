#!/bin/sh
# Tokens of git maco effect: where they may come from, and that they are nowhere else; who loads libcurl.
# Contract: git-maco-effect(1), "CONFIGURATION". Needs MACO_BIN, jq, curl, python3; strace if it is there.
# shellcheck disable=SC2154,SC2181
set -u
# shellcheck source=tests/cli/t0008-functions.inc
. "$(dirname "$0")/t0008-functions.inc"
token=tok-7f3a9c51e2d84b06
private=$scratch/operator # what holds tokens by right: not searched for them
mkdir "$private"
printf '{"users": [{"login": "bob", "tokens": ["%s"]}], "repos": [{"forge": "github", "full_name": "acme/app", "permissions": {"bob": "write"}}]}' "$token" >"$private/seed.json"
mkfifo "$private/ready"
"$support/forge/forge" --dir "$private/forge" --ready "$private/ready" --seed "$private/seed.json" &
started="$started $!"
port=$(timeout 30 cat "$private/ready")
api=http://127.0.0.1:$port/api/v3
fresh
number=0
# issue ARGS...: a new one each time, without the wait between two.
issue() {
  number=$((number + 1))
  rm -f "$repo"/.git/maco/effects/pace-*
  run issue create --settle 0 --title "t$number" --repository gh.test/acme/app "$@"
}
setting() { git config --global "maco.forge.gh.test.$1" "$2"; }
admin() { curl -s "http://127.0.0.1:$port$1" ${2+-d "$2"}; }
asked() { wc -l <"$private/forge/requests.jsonl"; }
setting provider github
setting api "$api"

# --- sources
printf '%s\n' "$token" >"$private/token"
chmod 600 "$private/token"
setting token "file:$private/token"
issue
[ $status -eq 0 ] && contains "$out" completed
check 'a file'
for mode in 640 604 666; do
  chmod $mode "$private/token"
  issue
  [ $status -ne 0 ] && contains "$err" 'not yours alone' || break
done
check 'a file that others can read is refused'
chmod 600 "$private/token"
before=$(asked)
printf 'two words\n' >"$private/odd" && chmod 600 "$private/odd" && setting token "file:$private/odd" && issue
[ $status -ne 0 ] && contains "$err" 'odd characters' && ! contains "$err" 'two words' && printf 'a\r\nX: y\n' >"$private/odd" && issue
[ $status -ne 0 ] && : >"$private/odd" && issue
[ $status -ne 0 ] && contains "$err" 'no token' && [ "$(asked)" = "$before" ]
check 'a token with blanks or line ends, and an empty one, are refused'
mkfifo -m 600 "$private/fifo" && setting token "file:$private/fifo" && issue
[ $status -ne 0 ] && setting token "file:$private/none" && issue
[ $status -ne 0 ] && [ "$(asked)" = "$before" ]
check 'no FIFO, no missing file'
setting token env:MY_TOKEN
MY_TOKEN=$token issue
[ $status -eq 0 ]
check 'a variable'
issue
[ $status -eq 1 ] && contains "$err" MY_TOKEN && contains "$err" 'no token'
check 'a variable that is not set'
setting token "$token"
issue
[ $status -ne 0 ] && contains "$err" 'file:PATH' && ! contains "$err" "$token"
check 'a token where its place should be is refused, and not repeated'
git config --global --unset maco.forge.gh.test.token
printf '#!/bin/sh\n[ "$1" = get ] && printf "username=bob\\npassword=%%s\\n" "$(cat %s)"\n' "$private/token" >"$private/helper"
chmod +x "$private/helper"
git config --global credential.https://gh.test.helper "!$private/helper"
issue
[ $status -eq 0 ]
check 'git'\''s credential helper of the operator, when nothing is said'
printf '#!/bin/sh\ntouch %s\n[ "$1" = get ] && printf "username=bob\\npassword=wrong\\n"\n' "$scratch/evil" >"$scratch/helper"
chmod +x "$scratch/helper"
git -C "$repo" config credential.helper "!$scratch/helper"
git -C "$repo" config credential.https://gh.test.helper "!$scratch/helper"
issue
[ $status -eq 0 ] && [ ! -e "$scratch/evil" ]
check 'never that of the repository'
if [ -x /usr/bin/gh ] || [ -x /usr/local/bin/gh ]; then
  skip 'a token of gh' 'gh is installed here, and is not a stub'
elif [ -w /usr/local/bin ] && [ "${MACO_TEST_STUB_GH-}" ]; then
  printf '#!/bin/sh\n[ "$*" = "auth token --hostname gh.test" ] && cat %s\n' "$private/token" >/usr/local/bin/gh
  chmod +x /usr/local/bin/gh
  setting token gh
  issue
  r=$status
  rm /usr/local/bin/gh
  [ "$r" -eq 0 ]
  check 'a token of gh'
else
  setting token gh
  issue
  [ $status -eq 1 ] && contains "$err" 'gh is not installed'
  check 'without gh there is none of it'
  skip 'a token of gh' 'a stub in /usr/local/bin only with MACO_TEST_STUB_GH=1'
fi
setting token "file:$private/token"

# --- settings of the repository itself
git -C "$repo" config maco.forge.gh.test.api http://127.0.0.1:1/evil
git -C "$repo" config maco.forge.gh.test.token env:HOME
git -C "$repo" config maco.forge.gh.test.provider gitlab
git -C "$repo" config maco.forge.gh.test.cafile /nonexistent
issue
[ $status -eq 0 ] && contains "$err" 'maco.forge.gh.test.api of' && [ "$(printf '%s\n' "$err" | grep -c 'does not count')" = 4 ]
check 'C44 the repository does not say where a token goes, and that is told'
git -C "$repo" config maco.forge.own.test.provider github
git -C "$repo" config maco.forge.own.test.api "$api"
run issue create --title t --repository own.test/acme/app
[ $status -ne 0 ] && contains "$err" 'what kind of forge'
check 'nor can it name a forge'
http_proxy='' git -C "$repo" config http.proxy http://127.0.0.1:1
issue
[ $status -eq 0 ]
check 'nor a proxy'
http_proxy=http://127.0.0.1:1 all_proxy=http://127.0.0.1:1 issue
[ $status -eq 0 ]
check 'nor does the environment for http, where it would read the token'

# --- where it goes
setting api http://example.org/api
issue
[ $status -ne 0 ] && contains "$err" 'no https URL'
check 'no http to another host'
for bad in http://127.0.0.1.example.org/ http://127.0.0.1@example.org/ ftp://127.0.0.1/ file:///etc 'http://localhost.example.org'; do
  setting api "$bad"
  issue
  [ $status -eq 1 ] && contains "$err" 'URL' || { echo "# $bad" && false; } || break
done
check 'nor to one that looks like this one'
setting api "$api"
cat >"$private/elsewhere.py" <<'P'
import http.server, sys
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        open(sys.argv[2], "a").write(str(self.headers))
        self.send_response(200); self.end_headers(); self.wfile.write(b"{}")
    do_POST = do_GET
    def log_message(self, *a): pass
s = http.server.HTTPServer(("127.0.0.1", 0), H)
open(sys.argv[1], "w").write(str(s.server_address[1]))
s.serve_forever()
P
mkfifo "$private/elsewhere"
python3 "$private/elsewhere.py" "$private/elsewhere" "$private/got" &
started="$started $!"
other=$(timeout 30 cat "$private/elsewhere")
for code in 301 302 307 308; do
  for method in GET POST; do
    admin /__faults "{\"match\": {\"method\": \"$method\", \"nth\": 1}, \"fault\": {\"kind\": \"status\", \"code\": $code, \"headers\": {\"Location\": \"http://127.0.0.1:$other/user\"}}}" >/dev/null
    issue
    [ $status -eq 1 ] && [ ! -e "$private/got" ] || { echo "# $method $code: $status" && false; } || break 2
  done
done
check 'no token follows a redirect to another origin'

# --- nowhere else
admin /__faults '{"id": "held", "match": {"method": "POST"}, "fault": {"kind": "stall_after"}}' >/dev/null
rm -f "$repo"/.git/maco/effects/pace-*
# Core files are wanted of both: the client's would hold the token.
(ulimit -S -c "$(ulimit -H -c)" && cd "$repo" && exec setsid "$MACO_BIN/maco-effect" issue create --settle 0 --title held --repository gh.test/acme/app >"$scratch/begun" 2>&1) &
client=$!
mkdir "$private/control"
(ulimit -S -c "$(ulimit -H -c)" && cd "$private/control" && MY_TOKEN=$token exec setsid sleep 600) &
control=$!
admin '/__admin/wait?held=1&rule=held' >/dev/null
seen=0 family=$client
for directory in /proc/[0-9]*; do
  pid=${directory#/proc/}
  [ "$(cut -d' ' -f6 "$directory/stat" 2>/dev/null)" = "$client" ] && family="$family $pid"
done
for pid in $family; do
  if tr '\0' '\n' <"/proc/$pid/cmdline" 2>/dev/null | grep -q "$token" || tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep -q "$token"; then seen=$((seen + 1)); fi
done
grep -q '^Uid' "/proc/$client/status" && [ $seen -eq 0 ]
check 'not on a command line, not in an environment, while a request is held'
limit=$(awk '/^Max core/ { print $5 }' "/proc/$client/limits")
owner=$(stat -c %u "/proc/$client/environ")
[ "$(id -u)" -eq 0 ] || [ "$owner" -eq 0 ] || [ "$limit" = 0 ]
check 'the process is not dumpable'
kill -ABRT "$client" 2>/dev/null
wait "$client" 2>/dev/null
admin /__admin/release '{"rule": "held"}' >/dev/null
kill -ABRT "$control" 2>/dev/null
wait "$control" 2>/dev/null
if grep -qs -e "$token" "$private/control"/core*; then
  [ -z "$(find "$repo" "$scratch" -path "$private" -prune -o -name 'core*' -type f -print)" ]
  check 'no core file, where another program leaves one with the token in it'
else
  skip 'no core file' "this machine keeps no core files: $(cat /proc/sys/kernel/core_pattern)"
fi
run recover
[ $status -eq 0 ]
check 'what was held is adopted'
admin /__faults "{\"match\": {\"method\": \"POST\"}, \"fault\": {\"kind\": \"status\", \"code\": 422, \"body\": {\"message\": \"bad\"}}}" >/dev/null
issue
said="$out$err"
printf 'tok-wrong-8812\n' >"$private/wrong" && chmod 600 "$private/wrong" && setting token "file:$private/wrong" && issue
[ $status -eq 1 ] && contains "$err" 401 && ! contains "$said$out$err" "$token" && ! contains "$out$err" tok-wrong
check 'not in messages'
setting token "file:$private/token"
[ -z "$(find "$scratch" -path "$private" -prune -o -type f -print0 | xargs -0 grep -l -e "$token" -e tok-wrong)" ]
check 'not in state, logs or repositories'
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
  setting token env:MY_TOKEN
  rm -f "$repo"/.git/maco/effects/pace-*
  (cd "$repo" && MY_TOKEN=$token strace -f -v -s 100000 -e trace=execve -o "$private/strace" git-maco effect issue create --settle 0 --title traced --repository gh.test/acme/app >"$scratch/begun" 2>&1)
  status=$? out=$(cat "$scratch/begun")
  [ $status -eq 0 ] && grep -q 'maco-effect' "$private/strace" && ! grep execve "$private/strace" | grep -v -e '/git-maco"' -e '/maco-effect"' | grep -q "$token"
  check 'no program that is started has it in its arguments or environment'
  rm -f "$repo"/.git/maco/effects/pace-*
  setting token "file:$private/token"
  for verb in list 'list --all' show status; do
    [ "$verb" != show ] || verb="show $(cd "$repo" && git-maco effect list --json | jq -r '.effects[0].id')"
    program="$MACO_BIN/maco-effect $verb"
    [ "$verb" != status ] || program="$MACO_BIN/maco-status"
    [ -x "${program%% *}" ] || continue
    (cd "$repo" && strace -f -e trace=openat -o "$private/opened" $program >/dev/null 2>&1)
    ! grep -q -e libcurl -e libssl -e "$private/token" "$private/opened" || { echo "# $verb" && false; } || break
  done
  check 'list, show and status load no libcurl and read no token'
  (cd "$repo" && strace -f -e trace=openat -o "$private/opened" "$MACO_BIN/maco-effect" issue create --settle 0 --title t-control --repository gh.test/acme/app >/dev/null 2>&1)
  grep -q libcurl "$private/opened"
  check 'control: a request does'
else
  skip 'no program that is started has it' 'no strace'
  skip 'list, show and status load no libcurl' 'no strace'
fi
finish

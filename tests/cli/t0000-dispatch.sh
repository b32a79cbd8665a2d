#!/bin/sh
# git-maco: usage, version, unknown verbs, where tools are looked for, statuses passed through.
# Contract: docs/man/git-maco.adoc. Needs MACO_BIN, the directory of the built programs.
set -u
: "${MACO_BIN:?set MACO_BIN to the directory of the built programs}"
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
count=0
failed=0

# check NAME: judges the status of the command before it.
check() {
  if [ $? -eq 0 ]; then r=ok; else r='not ok'; failed=1; fi
  count=$((count + 1))
  echo "$r $count - $1"
}
# run ARGS...: git-maco of the build, output in $scratch/out and err, status in $status.
run() {
  "$MACO_BIN/git-maco" "$@" >"$scratch/out" 2>"$scratch/err"
  status=$?
}

run -h
[ $status -eq 129 ] && [ ! -s "$scratch/err" ] && grep -q '^usage: git maco <verb>' "$scratch/out"
check '-h prints usage on standard output and exits with 129'

run
[ $status -eq 129 ] && [ ! -s "$scratch/out" ] && grep -q 'git maco -h' "$scratch/err"
check 'without a verb, it is a usage error that names -h'

"$MACO_BIN/git-maco" -h >/dev/full 2>"$scratch/err"
[ $? -eq 128 ] && grep -q 'No space left' "$scratch/err"
check 'an answer that cannot be written is a failure'

for version in --version version; do
  run $version
  [ $status -eq 0 ] && grep -q '^git-maco version [0-9]' "$scratch/out"
  check "$version"
done

run rnu
[ $status -eq 129 ] && grep -q "did you mean 'run'" "$scratch/err" && [ ! -s "$scratch/out" ]
check 'an unknown verb gives a hint'

run "$(printf 'x\033[31m')"
[ $status -eq 129 ] && ! grep -q "$(printf '\033')" "$scratch/err"
check 'control bytes of a verb do not reach the terminal'

run --list-verbs
verbs=$(cat "$scratch/out")
run -h
ok=0
for verb in $verbs; do
  grep -q "^    $verb  *[a-z]" "$scratch/out" || ok=1
done
[ $ok -eq 0 ] && [ -n "$verbs" ]
check 'every verb is in the usage'

# An installed tree: bin/git-maco, libexec/git-maco/maco-run. PATH holds a decoy.
mkdir -p "$scratch/tree/bin" "$scratch/tree/libexec/git-maco" "$scratch/path"
cp "$MACO_BIN/git-maco" "$scratch/tree/bin/"
cat >"$scratch/tree/libexec/git-maco/maco-run" <<'TOOL'
#!/bin/sh
printf '<%s>' "$@"
[ "$1" = term ] && kill -TERM $$
exit 7
TOOL
printf '#!/bin/sh\necho decoy\n' >"$scratch/path/maco-journal"
chmod +x "$scratch/tree/libexec/git-maco/maco-run" "$scratch/path/maco-journal"
PATH=$scratch/path:$PATH

out=$("$scratch/tree/bin/git-maco" run 'a b' '' -- -h)
[ $? -eq 7 ] && [ "$out" = '<a b><><--><-h>' ]
check 'arguments and the status pass through unchanged'

ln -s tree/bin/git-maco "$scratch/link"
"$scratch/link" run >/dev/null
[ $? -eq 7 ]
check 'tools are found when git-maco is called through a link'

"$scratch/tree/bin/git-maco" run term >/dev/null 2>&1
[ $? -eq 143 ]
check "a tool's death by a signal is git-maco's own"

"$scratch/tree/bin/git-maco" journal >"$scratch/out" 2>"$scratch/err"
[ $? -eq 128 ] && [ ! -s "$scratch/out" ] && grep -q 'not installed' "$scratch/err"
check 'PATH is never searched'

rm "$scratch/tree/libexec/git-maco/maco-run"
"$scratch/tree/bin/git-maco" run 2>"$scratch/err"
[ $? -eq 125 ]
check 'a missing maco-run is 125, as a failure before the start'

if command -v git >/dev/null; then
  PATH=$scratch/tree/bin:$PATH git maco --version | grep -q '^git-maco version'
  check 'git finds git-maco as a command of its own'
else
  count=$((count + 1)); echo "ok $count - # SKIP no git"
fi

echo "1..$count"
exit $failed

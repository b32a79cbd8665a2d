#!/bin/bash
# Makes evidence-v1-*.json and evidence-v1-key.bin again, from two real runs in the guest.
# usage: make_evidence_vectors.sh BIN_DIR (of a build; the programs in it must be of this tree)
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
bin=$(readlink -f "$1")

# A place of its own, so that the vectors do not tell where this checkout lies.
place=$(mktemp -d /srv/git-maco.XXXXXX)
trap 'rm -rf "$place"' EXIT
chmod 755 "$place"
mkdir "$place/tests" "$place/bin"
cp -r "$here/../guest" "$place/tests/"
cp "$bin"/maco-init "$bin"/maco-run "$bin"/maco-guardian "$place/bin/"
cat >"$place/runs" <<'RUNS'
set -euo pipefail
PATH=$(dirname "$0")/bin:$PATH
mkdir "$HOME/out" "$HOME/work"
cd "$HOME/work"
git init -q
git -c user.name=a -c user.email=a@b.invalid commit -q --allow-empty -m one
git worktree add -q "$HOME/lane"
maco-init -q >/dev/null
maco-run --evidence-fd 3 --result "$HOME/result" -- sh -c 'echo x >"$MACO_RESULT"' 3>"$HOME/out/publishable"
cd "$HOME/lane"
maco-run --evidence-fd 3 --profile offline-write --write . -- touch new 3>"$HOME/out/publishable-write"
cp "$HOME/work/.git/maco/key" "$HOME/out/key"
tar -C "$HOME/out" -cf - .
RUNS
mkdir "$place/out"
"$place/tests/guest/vm" -- bash "$place/runs" | tar -C "$place/out" -xf -
for name in publishable publishable-write; do
  tr -d '\n' <"$place/out/$name" >"$here/evidence-v1-$name.json"
done
install -m 644 "$place/out/key" "$here/evidence-v1-key.bin"

#!/bin/sh
# git maco worktree create where the file system copies on write: blocks are shared, contents are the base's.
# Contract: git-maco-worktree(1). Needs MACO_BIN, jq, python3; as root mkfs.xfs, filefrag and a loop device, else skipped.
# shellcheck disable=SC2154,SC2181
set -u
# What is mounted goes with this process.
[ -n "${MACO_MOUNTS_ALONE-}" ] || ! unshare -m true 2>/dev/null || MACO_MOUNTS_ALONE=1 exec unshare -m "$0"
# shellcheck source=tests/cli/t0005-functions.inc
. "$(dirname "$0")/t0005-functions.inc"
fresh
run create --json plain
if contains "$(stat -f -c %T "$scratch")" ext; then
  [ $status -eq 0 ] && says '.cloned == 0'
  check 'a file system that cannot share blocks: all is checked out'
fi
disk=$scratch/disk
mkdir "$disk"
if truncate -s 512M "$scratch/image" && mkfs.xfs -q -m reflink=1 "$scratch/image" && mount -o loop "$scratch/image" "$disk"; then
  trap 'umount "$disk"; rm -rf "$scratch"' EXIT
else
  echo "ok $((count + 1)) - copy on write # SKIP no XFS can be mounted here"
  echo "1..$((count + 1))"
  exit $failed
fi
scratch_of_repositories=$scratch
scratch=$disk
fresh
scratch=$scratch_of_repositories
large() { head -c "$1" /dev/urandom; }
mkdir "$repo/deep" "$repo/deep/er"
large 100000 >"$repo/large"
large 3000000 >"$repo/deep/er/larger"
large 50000 >"$repo/deep/program"
chmod 755 "$repo/deep/program"
large 50000 | base64 >"$repo/lines.crlf"
printf '*.crlf text eol=crlf\n*.big filter=big\n' >"$repo/.gitattributes"
large 60000 | base64 >"$repo/x.big"
git -C "$repo" config filter.big.smudge 'tr a-z A-Z'
git -C "$repo" config filter.big.clean 'tr A-Z a-z'
large 70000 >"$repo/edited"
large 70000 >"$repo/hidden"
large 70000 >"$repo/swapped"
large 16383 >"$repo/small"
git -C "$repo" add -A
git -C "$repo" -c core.autocrlf=false commit -qm large
# As a checkout leaves them: the filters of the working tree applied.
rm "$repo"/lines.crlf "$repo/x.big"
git -C "$repo" checkout -q -- lines.crlf x.big
sleep 1
git -C "$repo" update-index --refresh -q
echo more >>"$repo/edited"
git -C "$repo" update-index --assume-unchanged hidden
large 70000 >"$repo/hidden"
# same NAME: whether the file of lane one is what the base has.
same() { git -C "$repo" show "HEAD:$1" | cmp -s - "$lanes/one/$1"; }
shared() { filefrag -v "$1" | grep -q shared; }
run create --json one
[ $status -eq 0 ] && says '.cloned == 4'
check 'larger files are cloned: large, larger, program, swapped'
same large && same deep/er/larger && same deep/program && same small && same src/a && same edited && same hidden && same swapped
check 'every file is what the base has, whatever the working tree has there'
[ -x "$lanes/one/deep/program" ] && [ ! -x "$lanes/one/large" ] && [ -x "$lanes/one/tool" ] && [ "$(readlink "$lanes/one/link")" = src/a ]
check 'modes and links too'
shared "$lanes/one/large" && shared "$lanes/one/deep/er/larger" && ! shared "$lanes/one/edited" && ! shared "$lanes/one/hidden"
check 'the same blocks, where the working tree has the same content'
same x.big && grep -q "$(printf '\r')" "$lanes/one/lines.crlf"
check 'no filter of the working tree is in it, line ends are as the tree says'
[ -z "$(git -C "$lanes/one" status --porcelain)" ] && run capture one && [ $status -eq 1 ] && contains "$err" 'no change' && run capture --rehash one && contains "$err" 'no change'
check 'it holds no change, whether times are believed or nothing'
before=$(sha256sum <"$repo/large")
printf x | dd of="$lanes/one/large" conv=notrunc status=none
[ "$(sha256sum <"$repo/large")" = "$before" ] && run capture one && [ $status -eq 0 ]
check 'a write into the lane does not reach the working tree'
run create --json --private two
[ $status -eq 0 ] && says '.cloned == 4' && shared "$lanes/two/large" && [ -z "$(git -C "$lanes/two" status --porcelain)" ]
check 'a private lane too'

# --- an index that lies: the entry has the base's object id and the times of another content
large 70000 >"$repo/swapped"
git -C "$repo" add swapped
sleep 1
python3 - "$repo/.git/index" swapped "$(git -C "$repo" rev-parse HEAD:swapped)" <<'EOF'
import sys
path, name, oid = sys.argv[1], sys.argv[2].encode(), bytes.fromhex(sys.argv[3])
data = bytearray(open(path, "rb").read())
at = data.index(name + b"\0") - 2 - len(oid)
data[at:at + len(oid)] = oid
open(path, "wb").write(data)
EOF
run create --json three
[ $status -eq 0 ] && says ".cloned == 3" && git -C "$repo" show HEAD:swapped | cmp -s - "$lanes/three/swapped"
check 'what an index says falsely is not believed: its content counts'
ln -sf /etc/passwd "$repo/large"
run create --json four
[ $status -eq 0 ] && says ".cloned == 2" && git -C "$repo" show HEAD:large | cmp -s - "$lanes/four/large" && [ ! -L "$lanes/four/large" ]
check 'no link is followed'
finish

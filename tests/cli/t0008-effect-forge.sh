#!/bin/sh
# git maco effect pr, issue and comment against the forge double, in three dialects at a time.
# Contract: git-maco-effect(1), docs/formats/effect.md. Needs MACO_BIN, python3.
# usage: t0008-effect-forge.sh [PART OF A TEST'S NAME]...
: "${MACO_BIN:?set MACO_BIN to the directory of the built programs}"
export PYTHONDONTWRITEBYTECODE=1 # nothing is left in the tree
exec python3 "$(dirname "$0")/t0008_effect_forge.py" "$MACO_BIN" "$@"

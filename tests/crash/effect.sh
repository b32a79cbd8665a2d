#!/bin/sh
# git maco effect under kills and faults. usage: effect.sh BIN_DIR TOOL_DIR (as the other crash tests)
exec python3 "$(dirname "$0")/effect_schedules.py" "${2:?the directory of git-maco}" "${1:?the directory of the crash programs}"

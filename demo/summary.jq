# The essence of an evidence document, for a person: what ended, what was proven, what it rests on.
def size: if . >= 1073741824 then "\(. / 1073741824 * 10 | floor / 10) GiB"
  elif . >= 1048576 then "\(. / 1048576 | floor) MiB" else "\(. / 1024 | floor) KiB" end;
def row(name; text): "   " + (name + "              ")[:14] + " " + text;
.requested as $want | .observations as $seen | .measurements as $measured |
(($measured.timings_us.target_ended - $measured.timings_us.journal_started) / 100000) as $tenths |
row("outcome"; (.outcome.target | to_entries[0] | "\(.key) \(.value)") + ", ended by \(.outcome.ended_by), after \($tenths | floor / 10) s"),
row("publishable"; if .publishable then "yes: both facts proven" else "NO: " + (.reasons | join("; ")) end),
row("tree empty"; "cgroup \($seen.end.cgroup), \($measured.processes_left_behind) left-over processes ended"),
row("confinement"; "\($seen.inside.probes | length) operations probed, \($seen.inside.masks | length) paths hidden, \($seen.inside.mounts | length) mounts checked, seccomp mode \($seen.inside.status.Seccomp), own \($seen.inside.namespaces | keys | join(" ")) namespaces"),
row("writable"; ($want.writable + ($want.private | to_entries | map(select(.value.access == "rw").key)) | join(" "))),
row("limits"; "memory \($want.cgroup["memory.max"] | tonumber | size) (peak \($measured.counters["memory.peak"] // "0" | tonumber | size)), tasks \($want.cgroup["pids.max"]), no network"),
row("evidence"; "run \(.run), signed \(.mac[:16])...")

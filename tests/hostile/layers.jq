# Complaints about an attack: lines that are not in the table, layers that the evidence does not show.
# Input: the evidence. Arguments: $table of stopped_by (lib.sh), $output of the hostile program.

def topmost($path): [.observations.inside.mounts[] | split(" ") | select(.[4] == $path)] | last;

# Whether the evidence shows a layer in force.
def shows($layer):
  ($layer | split(":")) as $parts | $parts[0] as $kind | ($parts[1:] | join(":")) as $name
  | if $kind == "filter" then .observations.inside.probes[$name] | . == 1 or . == 13 or . == 38
    elif $kind == "namespace" then
      .observations.inside.namespaces[$name] as $inside
      | $inside != null and $inside != .host.namespaces[$name]
        and $inside == .observations.outside.namespaces[$name]
    elif $kind == "read-only" then topmost($name) | . != null and (.[5] | test("^ro(,|$)"))
    elif $kind == "root-read-only" then .observations.inside.roots[$name].access == "ro"
    elif $kind == "private" then
      .requested.private[$name] != null and (topmost($name) | . != null and .[8] == "tmpfs")
    elif $kind == "mask" then
      .observations.inside.masks[$name] | . != null and (.os_errno != 0 or .open_errno == 13)
    elif $kind == "capabilities" then
      [.observations.inside.status | .CapEff, .CapPrm, .CapBnd, .CapInh, .CapAmb]
      | all(. == "0000000000000000")
    elif $kind == "no-new-privs" then .observations.inside.status.NoNewPrivs == "1"
    elif $kind == "descriptors" then .observations.inside.descriptors == [0, 1, 2]
    elif $kind == "limit" then
      .observations.inside.limits[$name] == {soft: .requested.limits[$name], hard: .requested.limits[$name]}
    elif $kind == "cgroup" then
      .observations.cgroup.files[$name] | . != null and . != "max"
    elif $kind == "init" then .observations.inside.parent_pid == 1
    elif $kind == "kernel" then true  # the kernel's own rule, for any process of this user
    else error("no layer \"\($layer)\"")
    end;

. as $evidence
| ($table | split("\n") | map(select(. != "") | [splits(" +")])) as $rows
| ($output | split("\n") | map(select(. != ""))) as $lines
| ($rows | map("\(.[0]) stopped \(.[1])")) as $expected
| (($lines - $expected)[] | "not as in the table: \(.)"),
  (($expected - $lines)[] | "in the table only: \(.)"),
  ($rows[] | select(length < 3) | "no layer for \(.[0])"),
  ($rows[] | .[0] as $name | .[2:][] | . as $layer
   | select($evidence | shows($layer) | not) | "\($name): the evidence does not show \($layer)")

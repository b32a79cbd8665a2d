# The log on a real ext4 whose block writes are recorded and replayed up to each acknowledgement: what was
# acknowledged is there, and flushes that are left out are noticed (JRN-02, docs/design/durability.md).
# guest: -u root
# engines: uml
# shellcheck shell=bash disable=SC2154

disk_bytes=$((16 << 20))
disk=/dev/ram0 record=/dev/ram1 target=/dev/ram2
here=${BASH_SOURCE[0]%/*}

load_modules() {
    local name tree
    tree=/lib/modules/$(uname -r)
    [[ -d $tree ]] || tree=/usr/lib/uml/modules/$(uname -r)
    for name in brd dm-mod dm-log-writes; do
        [[ $name != brd || ! -e $disk ]] || continue
        local options=()
        [[ $name != brd ]] || options=(rd_nr=3 rd_size=65536)
        insmod "$(find "$tree" -name "$name.ko*" | head -n 1)" "${options[@]}" 2>/dev/null ||
            grep -q "^${name//-/_} " /proc/modules || fail "module $name"
    done
}

# A file system, once: $test_dir/base is the disk before anything is recorded.
make_base() {
    load_modules
    mkfs.ext4 -q -F -b 4096 -J size=4 "$disk" 16M
    head -c "$disk_bytes" "$disk" >"$test_dir/base"
    mkdir -p "$test_dir/mnt"
}

# Runs the driver without its flush number OMIT (0: with all), with the writes of the disk recorded. Each
# acknowledgement is a mark: the number of lines that the driver had said.
record_run() { # OMIT
    dd if="$test_dir/base" of="$disk" bs=1M conv=fsync status=none
    dmsetup create recorded --noudevrules --noudevsync \
        --table "0 $((disk_bytes / 512)) log-writes $disk $record"
    dmsetup mknodes
    mount -t ext4 /dev/mapper/recorded "$test_dir/mnt"
    chmod 700 "$test_dir/mnt"
    (cd "$test_dir/mnt" && OMIT=$1 append-driver-omits power 'dmsetup message recorded 0 mark' \
        >"$test_dir/said")
    umount "$test_dir/mnt"
    dmsetup remove --noudevrules --noudevsync recorded
}

# The check at each point: ext4 recovers its journal, then the log is held against what was said. A record
# that was being appended may be there too. Only between flushes may a torn tail be.
write_check() { # OPTIONS of check-log
    cat >"$test_dir/check" <<CHECK
mount -t ext4 $target "$test_dir/mnt" || exit 2
awk -v mark="\$MARK" 'NR <= mark || (NR == mark + 1 && \$1 == "try")' "$test_dir/said" >"$test_dir/said-then"
status=0
(cd "$test_dir/mnt" && SAID=$test_dir/said-then check-log $1) || status=1
umount "$test_dir/mnt" || exit 2
exit \$status
CHECK
}

replay() { # mark|write
    python3 "$here/replay_writes.py" "$1" "$record" "$test_dir/base" "$target" bash "$test_dir/check"
}

prepare() {
    export PATH=$bin/crash:$PATH
    make_base
}

test_every_acknowledged_record_survives_a_power_cut() {
    prepare
    record_run 0
    write_check ''
    replay mark
    # Also between the flushes, in the order in which the disk got the writes, some of them torn.
    write_check -r
    replay write
}

# Flushes: 1 the new file, 2 its directory, 3 the first append, 4 and 5 the records and the head of the
# second, 6 the third, 7 closing. At the marks all but 4 show; without 4 a head may be there and not its
# records, which a torn write between two marks shows.
# The flushes of creation (file, directory) and of a record. Leaving out a later one showed in no replay
# of this file system: the writes that it keeps apart went to the disk in an order that hurts nobody.
# tests/unit/log/log_power_cut_test.cc has every order of sectors, and notices each flush.
test_omitted_flushes_are_noticed() {
    prepare
    local omit out
    for omit in 1 2 3; do
        record_run "$omit"
        write_check ''
        if out=$(replay mark); then
            write_check -r
            if out=$(replay write); then
                fail "the omission of flush $omit was not noticed: $out"
            fi
        fi
        [[ $(tail -n 1 <<<"$out") == *' points, '[1-9]* ]] || fail "no replay: $out"
        echo "flush $omit: $(tail -n 1 <<<"$out"): $(head -n 1 <<<"$out")"
    done
}

# shellcheck shell=bash
# Sourced by vm: what is made once and kept in the cache (programs, initial RAM disk).
# Every file of the cache has a name made from a hash of all that it is made from.

# Debian's units that the guest keeps. PID 1 of the guest sees these and seed/etc/guest/system only.
kept_units=(
    dbus.socket dbus.service
    systemd-journald.socket systemd-journald-dev-log.socket systemd-journald.service
    systemd-logind.service systemd-logind-varlink.socket
    systemd-hostnamed.service systemd-timedated.service systemd-poweroff.service
)

# Targets that other units name; in the guest they do nothing.
empty_targets=(
    basic final halt local-fs local-fs-pre multi-user network network-pre nss-user-lookup paths
    poweroff reboot remote-fs shutdown slices sockets swap sysinit time-set time-sync timers umount
)

set_cache_dir() {
    if [[ -n ${MACO_GUEST_CACHE:-} ]]; then
        cache=$MACO_GUEST_CACHE
    elif [[ -n ${XDG_CACHE_HOME:-} ]]; then
        cache=$XDG_CACHE_HOME/maco-guest
    elif ((EUID == 0)); then
        cache=/var/cache/maco-guest # root's home is closed to the uid that UML runs as
    else
        cache=$HOME/.cache/maco-guest
    fi
    (umask 022 && mkdir -p "$cache") || fail "$EX_CANTCREAT" "cannot create the cache $cache"
}

# cached NAME COMMAND...: sets $cached to the file NAME-HASH of the cache, which COMMAND writes to
# the path in its last argument if it is missing. HASH is over standard input.
cached() {
    local name=$1 hash temporary
    shift
    hash=$(sha256sum)
    cached=$cache/$name-${hash:0:20}
    [[ ! -e $cached ]] || return 0
    find "$cache" -mindepth 1 -maxdepth 1 -type f -mtime +30 -delete
    temporary=$(mktemp "$cache/.$name.XXXXXX")
    # In the background, because bash ignores "set -e" in what runs as part of a condition.
    (
        umask 022
        "$@" "$temporary"
    ) &
    if ! wait $!; then
        rm -f "$temporary"
        fail "$EX_UNAVAILABLE" "cannot make $name"
    fi
    chmod 755 "$temporary"
    mv "$temporary" "$cached"
}

# build_program NAME SOURCE...: sets $cached to the static program.
build_program() {
    local name=$1 cxx=${CXX:-g++}
    shift
    local flags=(-std=c++20 -O2 -static -s -fno-exceptions -fno-rtti -Wall -Wextra -Werror)
    local sources=("$@")
    compile() { "$cxx" "${flags[@]}" -o "$1" "${sources[@]}"; }
    command -v "$cxx" >/dev/null || fail "$EX_UNAVAILABLE" "no C++ compiler ($cxx)"
    cached "$name" compile < <("$cxx" --version && echo "${flags[@]}" && cat "$here"/agent/*.h "$@")
}

# Account files: the host's, with maco and other in the place of whoever has their uids or names.
write_accounts() {
    local etc=$1/etc user
    local -A uid_of=([maco]=$guest_uid [other]=$((guest_uid + 1)))
    local own='$1 != "maco" && $1 != "other" && $3 != u && $3 != u + 1'
    awk -F: -v u="$guest_uid" "$own" /etc/passwd >"$etc/passwd"
    awk -F: -v u="$guest_uid" -v OFS=: "$own"' { $4 = $1 == "systemd-journal" ? "maco" : ""; print }' \
        /etc/group >"$etc/group"
    for user in maco other; do
        echo "$user:x:${uid_of[$user]}:${uid_of[$user]}:$user:/home/$user:/bin/bash" >>"$etc/passwd"
        echo "$user:x:${uid_of[$user]}:" >>"$etc/group"
    done
    awk -F: '{ print $1 ":*:19000:0:99999:7:::" }' "$etc/passwd" >"$etc/shadow"
    awk -F: '{ print $1 ":*::" }' "$etc/group" >"$etc/gshadow"
    chmod 640 "$etc/shadow" "$etc/gshadow"
}

write_units() {
    local units=$1/etc/guest/system name
    for name in "${empty_targets[@]}"; do
        printf '[Unit]\nDescription=%s\nDefaultDependencies=no\n' "$name" >"$units/$name.target"
    done
    for name in "${kept_units[@]}"; do
        [[ -e $unit_source/$name ]] || continue
        cp "$unit_source/$name" "$units/$name"
        mkdir -p "$units/$name.d"
        printf '[Unit]\nDefaultDependencies=no\n' >"$units/$name.d/10-guest.conf"
    done
    ln -s systemd-logind.service "$units/dbus-org.freedesktop.login1.service"
    if ((${#not_delegated[@]})); then
        mkdir -p "$units/user-.slice.d"
        printf '[Slice]\nDisableControllers=%s\n' "${not_delegated[*]}" \
            >"$units/user-.slice.d/not-delegated.conf"
    fi
    grep -rlZ @UID@ "$units" | xargs -0 sed -i "s/@UID@/$guest_uid/g"
}

# write_initrd FILE: the initial RAM disk, a cpio archive of /init, /seed and /modules.
write_initrd() {
    local tree variant number=10 module
    tree=$(mktemp -d "$run_dir/initrd.XXXXXX")
    mkdir "$tree/modules"
    cp -r "$here/seed" "$tree/seed"
    for variant in "${variants[@]}"; do
        cp -r "$here/variants/$variant/." "$tree/seed/"
    done
    write_accounts "$tree/seed"
    write_units "$tree/seed"
    cp "$agent" "$tree/seed/etc/guest/agent"
    ln -s seed/etc/guest/agent "$tree/init"
    for module in "${modules[@]}"; do
        cp "$module" "$tree/modules/$((number++))-${module##*/}"
    done
    (cd "$tree" && find . | cpio --quiet -o -H newc -R 0:0) >"$1"
    rm -rf "$tree"
}

# Sets $cached to the initial RAM disk for this engine (its $modules) and these options.
build_initrd() {
    local unit_source=/lib/systemd/system agent
    command -v cpio >/dev/null || fail "$EX_UNAVAILABLE" "cpio is not installed"
    build_program agent "$here"/agent/*.cc
    agent=$cached
    cached "initrd-$engine" write_initrd < <(
        echo "$agent $guest_uid ${variants[*]} / ${not_delegated[*]} / ${modules[*]}"
        find "$here/seed" "$here/variants" "$here/seed.sh" -type f -print0 | sort -z | xargs -0 cat
        cat /etc/passwd /etc/group
        cd "$unit_source" && cat "${kept_units[@]}" 2>/dev/null
    )
}

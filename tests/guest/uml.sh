# shellcheck shell=bash
# Sourced by vm: user-mode Linux.

# hostfs acts with the rights of the linux.uml process. As root, run it as the uid of the guest's
# maco, so that what maco makes in a rw share has the right owner, but let it read what only root
# may read (a checkout in /root, root's own files): access(2), which hostfs uses, then counts
# capabilities only with no_setuid_fixup. The guest's kernel still checks its own users.
set_uml_identity() {
    uml_identity=()
    ((EUID == 0)) || return 0
    local capability
    uml_identity=(setpriv --reuid="$guest_uid" --regid="$guest_uid" --clear-groups --pdeathsig=KILL)
    for capability in dac_read_search dac_override; do # a container may have the second only
        if setpriv --ambient-caps="+$capability" --inh-caps="+$capability" true 2>/dev/null; then
            uml_identity+=(--inh-caps="-all,+$capability" --ambient-caps="-all,+$capability"
                --securebits=+no_setuid_fixup)
            return 0
        fi
    done
}

prepare_uml() {
    command -v linux.uml >/dev/null || fail "$EX_UNAVAILABLE" "linux.uml is not installed"
    local module i
    module=/usr/lib/uml/modules/$(linux.uml --version)/kernel/fs/overlayfs/overlay.ko
    modules=()
    [[ ! -e $module ]] || modules=("$module")
    build_initrd
    set_uml_identity

    local parameters=(
        "mem=${memory}M" "initrd=$run_dir/initrd" "uml_dir=$run_dir/uml" umid=uml noreboot
        lpj=5000000                                            # no calibration of the delay loop
        initcall_blacklist=init_zswap,raid6_select_algo        # the RAID benchmark takes 0.85 s
        pty.legacy_count=0                                     # 256 devices less
        lsm=yama                                               # no SELinux, AppArmor, TOMOYO
        con=null con0=null,fd:"$console_fd" ssl=null ssl0=null,fd:"$out_fd" ssl1=null,fd:"$err_fd"
        "${common_parameters[@]}"
    )
    for i in "${!disks[@]}"; do
        ((EUID != 0)) || chown "$guest_uid" "${disks[i]}"
        parameters+=("ubd$i=$run_dir/disk$i")
    done
    ln -s "$cached" "$run_dir/initrd"
    mkdir -m 700 "$run_dir/uml"
    ((EUID != 0)) || chown -R "$guest_uid:$guest_uid" "$run_dir/uml" "$run_dir/control"
    # The guest's memory is a file. Left to itself, UML puts it on a tmpfs.
    engine_command=(env -u TMPDIR -u TMP -u TEMP HOME="$run_dir/uml" "${uml_identity[@]}" linux.uml "${parameters[@]}")
}

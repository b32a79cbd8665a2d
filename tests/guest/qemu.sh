# shellcheck shell=bash
# Sourced by vm: QEMU without KVM, with the host's cloud kernel and virtiofs.

virtiofsd=/usr/lib/qemu/virtiofsd

# In the order in which they must be loaded. The cloud kernel has all of them as modules only.
qemu_modules=(
    drivers/virtio/{virtio_ring,virtio,virtio_pci_legacy_dev,virtio_pci_modern_dev,virtio_pci}.ko
    fs/fuse/{fuse,virtiofs}.ko
    fs/overlayfs/overlay.ko
    drivers/char/virtio_console.ko
    drivers/block/virtio_blk.ko
)

# Sets $kernel_version to the newest installed kernel, if possible a cloud kernel (fewer devices).
find_kernel() {
    local pattern
    for pattern in '*-cloud-amd64' '*-amd64'; do
        kernel_version=$(compgen -G "/boot/vmlinuz-$pattern" | sort -V | tail -n 1) || continue
        kernel_version=${kernel_version#/boot/vmlinuz-}
        [[ ! -d /lib/modules/$kernel_version/kernel ]] || return 0
    done
    fail "$EX_UNAVAILABLE" "no kernel for QEMU in /boot (package linux-image-cloud-amd64)"
}

# unpack_kernel VMLINUZ FILE: Debian's cloud kernel is packed with lz4. Unpacking it in the emulated
# processor would take about a second. A kernel packed in another way stays as it is.
unpack_kernel() {
    local offset
    if offset=$(LC_ALL=C grep -aboP -m1 '\x02\x21\x4c\x18' "$1" | head -n 1 | cut -d: -f1); then
        # The data ends with bytes that are not lz4, after all of the kernel.
        tail -c "+$((offset + 1))" "$1" | lz4 -dc >"$2" 2>/dev/null || true
    fi
    [[ $(head -c 4 "$2") == $'\x7fELF' ]] || cp "$1" "$2"
}

start_virtiofsd() {
    local attempt
    start virtiofsd "$virtiofsd" --socket-path="$run_dir/virtiofs" \
        -o source=/ -o cache=always -o sandbox=chroot
    for ((attempt = 0; attempt < 500; attempt++)); do
        [[ ! -S $run_dir/virtiofs ]] || return 0
        sleep 0.02
    done
    fail "$EX_UNAVAILABLE" "virtiofsd does not start: $(tail -n 1 "$run_dir/virtiofsd.log")"
}

prepare_qemu() {
    ((EUID == 0)) || fail "$EX_UNAVAILABLE" "QEMU needs root (for virtiofsd); UML does not"
    command -v qemu-system-x86_64 >/dev/null || fail "$EX_UNAVAILABLE" "QEMU is not installed"
    command -v lz4 >/dev/null || fail "$EX_UNAVAILABLE" "lz4 is not installed"
    [[ -x $virtiofsd ]] || fail "$EX_UNAVAILABLE" "$virtiofsd is not installed"
    local kernel_version kernel i
    find_kernel
    cached "vmlinux-$kernel_version" unpack_kernel "/boot/vmlinuz-$kernel_version" \
        < <(stat -c '%n %s %Y' "/boot/vmlinuz-$kernel_version")
    kernel=$cached
    modules=("${qemu_modules[@]/#//lib/modules/$kernel_version/kernel/}")
    build_initrd

    local parameters=(
        console=ttyS0 panic=-1
        lsm=landlock,yama                  # no SELinux, AppArmor, TOMOYO
        mitigations=off nokaslr            # emulated code has no such leaks
        no_timer_check tsc=reliable        # no calibration against other clocks
        cryptomgr.notests                  # no self-tests of the ciphers
        random.trust_cpu=on                # no wait for entropy
        "${common_parameters[@]}"
    )
    engine_command=(
        qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot
        -accel tcg,thread=multi,tb-size=256
        -M q35,memory-backend=memory,hpet=off,usb=off,vmport=off
        -m "$memory" -object memory-backend-memfd,id=memory,size="${memory}M",share=on
        -chardev socket,id=fs,path="$run_dir/virtiofs"
        -device vhost-user-fs-pci,chardev=fs,tag=hostroot
        -device virtio-serial-pci
        -chardev file,id=out,path="$run_dir/out" -device virtserialport,chardev=out,nr=1,name=out
        -chardev file,id=err,path="$run_dir/err" -device virtserialport,chardev=err,nr=2,name=err
        -chardev file,id=console,path="$run_dir/console" -serial chardev:console
        -kernel "$kernel" -initrd "$cached" -append "${parameters[*]}"
    )
    for i in "${!disks[@]}"; do
        engine_command+=(-drive "file=$run_dir/disk$i,if=none,id=disk$i,format=raw"
            -device virtio-blk-pci,drive="disk$i")
    done
    start_virtiofsd
}

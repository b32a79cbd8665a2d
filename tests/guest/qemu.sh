prepare_qemu() { :; }

// Which system calls touch state that outlives a process, by number and arguments (x86-64).
// For tests/crash only.
#pragma once
#include <fcntl.h>
#include <sys/syscall.h>

#include <cstdint>

namespace maco {

// What the kernel was asked for: number and the first four arguments.
struct Call {
  std::uint64_t number = 0;
  std::uint64_t arguments[4] = {};
};

// All calls of which some touch state.
inline constexpr unsigned kCandidates[] = {
    SYS_open,      SYS_openat,    SYS_write,     SYS_fcntl,
    SYS_openat2,   SYS_creat,     SYS_writev,    SYS_pwrite64,
    SYS_pwritev,   SYS_pwritev2,  SYS_sendfile,  SYS_copy_file_range,
    SYS_fsync,     SYS_fdatasync, SYS_syncfs,    SYS_sync_file_range,
    SYS_rename,    SYS_renameat,  SYS_renameat2, SYS_unlink,
    SYS_unlinkat,  SYS_rmdir,     SYS_link,      SYS_linkat,
    SYS_symlink,   SYS_symlinkat, SYS_truncate,  SYS_ftruncate,
    SYS_fallocate, SYS_flock,     SYS_mkdir,     SYS_mkdirat,
    SYS_chmod,     SYS_fchmod,    SYS_fchmodat};

// The name of a call that touches state, or nullptr. An open counts if it can create, cut or write;
// every openat2 does, since its flags lie in memory that may be closed to a tracer. What goes to
// the standard streams is no state.
inline const char* StateCallName(const Call& call) {
  const auto opens_to_write = [](std::uint64_t flags) {
    return (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) != 0;
  };
  switch (call.number) {
    case SYS_open:
      return opens_to_write(call.arguments[1]) ? "open" : nullptr;
    case SYS_openat:
      return opens_to_write(call.arguments[2]) ? "openat" : nullptr;
    case SYS_write:
      return call.arguments[0] > 2 ? "write" : nullptr;
    case SYS_fcntl: {
      const auto command = call.arguments[1];
      const bool locks = command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK ||
                         command == F_OFD_SETLKW;
      return locks ? "fcntl" : nullptr;
    }
#define MACO_STATE_CALL(name) \
  case SYS_##name:            \
    return #name;
      MACO_STATE_CALL(openat2)
      MACO_STATE_CALL(creat)
      MACO_STATE_CALL(writev)
      MACO_STATE_CALL(pwrite64)
      MACO_STATE_CALL(pwritev)
      MACO_STATE_CALL(pwritev2)
      MACO_STATE_CALL(sendfile)
      MACO_STATE_CALL(copy_file_range)
      MACO_STATE_CALL(fsync)
      MACO_STATE_CALL(fdatasync)
      MACO_STATE_CALL(syncfs)
      MACO_STATE_CALL(sync_file_range)
      MACO_STATE_CALL(rename)
      MACO_STATE_CALL(renameat)
      MACO_STATE_CALL(renameat2)
      MACO_STATE_CALL(unlink)
      MACO_STATE_CALL(unlinkat)
      MACO_STATE_CALL(rmdir)
      MACO_STATE_CALL(link)
      MACO_STATE_CALL(linkat)
      MACO_STATE_CALL(symlink)
      MACO_STATE_CALL(symlinkat)
      MACO_STATE_CALL(truncate)
      MACO_STATE_CALL(ftruncate)
      MACO_STATE_CALL(fallocate)
      MACO_STATE_CALL(flock)
      MACO_STATE_CALL(mkdir)
      MACO_STATE_CALL(mkdirat)
      MACO_STATE_CALL(chmod)
      MACO_STATE_CALL(fchmod)
      MACO_STATE_CALL(fchmodat)
#undef MACO_STATE_CALL
    default:
      return nullptr;
  }
}

// Whether the call takes a count of bytes to write as its third argument, and may do fewer.
inline bool WritesBytes(const Call& call) {
  return call.number == SYS_write || call.number == SYS_pwrite64;
}

}  // namespace maco

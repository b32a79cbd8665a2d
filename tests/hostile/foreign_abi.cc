// System calls by other doors than the x86-64 one: i386 by int 0x80, x32 by high numbers.
// Frame: tests/hostile/attempt.h.
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "tests/hostile/attempt.h"

namespace {

using hostile::InChild;

constexpr long kX32 = 0x40000000;

int OldCall(long number, long first, long second) {
  long result = number;
  asm volatile("int $0x80"
               : "+a"(result)
               : "b"(first), "c"(second), "d"(0L)
               : "memory", "r8", "r9", "r10", "r11");
  return result < 0 ? static_cast<int>(-result) : 0;
}

// Arguments in memory must lie below 4 GiB.
int OldSocket() {
  auto* const arguments = static_cast<unsigned*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0));
  if (arguments == MAP_FAILED) {
    return errno;
  }
  arguments[0] = AF_INET;
  arguments[1] = SOCK_STREAM;
  arguments[2] = 0;
  return OldCall(102 /* socketcall */, 1 /* SYS_SOCKET */, reinterpret_cast<long>(arguments));
}

}  // namespace

int main(int argc, char** argv) {
  return hostile::RunAttempts(
      argc, argv,
      {
          {"i386-getpid", [] { return InChild([] { return OldCall(20, 0, 0); }); }},
          {"i386-socket", [] { return InChild(OldSocket); }},
          {"i386-unshare",
           [] { return InChild([] { return OldCall(310, 0x10000000 /* CLONE_NEWUSER */, 0); }); }},
          {"x32-getpid",
           [] { return InChild([] { return hostile::Outcome(syscall(kX32 | SYS_getpid)); }); }},
          {"x32-socket",
           [] {
             return InChild([] {
               return hostile::CloseAfter(syscall(kX32 | SYS_socket, AF_INET, SOCK_STREAM, 0));
             });
           }},
      });
}

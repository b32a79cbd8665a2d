// Does by io_uring what a system call filter denies: a socket, a hard link.
// Parameters: file= to link, link= its new name. Frame: tests/hostile/attempt.h.
#include <fcntl.h>
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tests/hostile/attempt.h"

namespace {

using hostile::CloseAfter;
using hostile::Parameter;

void* Map(int fd, std::size_t size, long offset) {
  return mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
}

unsigned* At(void* ring, unsigned offset) {
  return reinterpret_cast<unsigned*>(static_cast<char*>(ring) + offset);
}

// One operation through a new ring. Returns its errno.
int Submit(const io_uring_sqe& operation) {
  io_uring_params parameters{};
  const int ring = static_cast<int>(syscall(SYS_io_uring_setup, 4, &parameters));
  if (ring < 0) {
    return errno;
  }
  void* const sq = Map(ring, parameters.sq_off.array + parameters.sq_entries * sizeof(unsigned),
                       IORING_OFF_SQ_RING);
  void* const cq = Map(ring, parameters.cq_off.cqes + parameters.cq_entries * sizeof(io_uring_cqe),
                       IORING_OFF_CQ_RING);
  void* const entries = Map(ring, parameters.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES);
  if (sq == MAP_FAILED || cq == MAP_FAILED || entries == MAP_FAILED) {
    return errno;
  }
  memcpy(entries, &operation, sizeof operation);
  *At(sq, parameters.sq_off.array) = 0;
  __atomic_store_n(At(sq, parameters.sq_off.tail), 1, __ATOMIC_RELEASE);
  if (syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, nullptr, 0) < 0) {
    return errno;
  }
  const auto* done = reinterpret_cast<io_uring_cqe*>(At(cq, parameters.cq_off.cqes));
  const int result = done->res;
  close(ring);
  return result < 0 ? -result : 0;
}

int Setup() {
  io_uring_params parameters{};
  return CloseAfter(syscall(SYS_io_uring_setup, 1, &parameters));
}

int Socket() {
  io_uring_sqe operation{};
  operation.opcode = IORING_OP_SOCKET;
  operation.fd = AF_INET;
  operation.off = SOCK_STREAM;
  return Submit(operation);
}

int Link() {
  const std::string from = Parameter("file");
  const std::string to = Parameter("link");
  io_uring_sqe operation{};
  operation.opcode = IORING_OP_LINKAT;
  operation.fd = AT_FDCWD;
  operation.addr = reinterpret_cast<unsigned long>(from.c_str());
  operation.len = static_cast<unsigned>(AT_FDCWD);
  operation.addr2 = reinterpret_cast<unsigned long>(to.c_str());
  return Submit(operation);
}

}  // namespace

int main(int argc, char** argv) {
  return hostile::RunAttempts(
      argc, argv, {{"uring-setup", Setup}, {"uring-socket", Socket}, {"uring-link", Link}});
}

// Reaches for the network: a socket of every family, TCP, UDP and raw packets.
// Parameters: port=N of a TCP and a UDP server on 127.0.0.1. Frame: tests/hostile/attempt.h.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "tests/hostile/attempt.h"

namespace {

using hostile::Attempt;
using hostile::CloseAfter;
using hostile::Outcome;

constexpr int kLastFamily = 45;  // AF_MCTP

// Any type will do; the errno of the type that got furthest.
int TryFamily(int family) {
  int result = EAFNOSUPPORT;
  for (const int type : {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET, SOCK_RDM}) {
    const int one = CloseAfter(socket(family, type, 0));
    if (one == 0) {
      return 0;
    }
    if (one != EAFNOSUPPORT && one != ESOCKTNOSUPPORT && one != EPROTONOSUPPORT) {
      result = one;
    }
  }
  return result;
}

sockaddr_in Loopback(long port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<unsigned short>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int OnSocket(int type, int protocol, int (*call)(int, const sockaddr_in&)) {
  const int fd = socket(AF_INET, type, protocol);
  if (fd < 0) {
    return errno;
  }
  const int result = call(fd, Loopback(hostile::Number("port")));
  close(fd);
  return result;
}

// The server answers "inside"; a connection without an answer reached nobody.
int Ask(int fd, const sockaddr_in& address) {
  const timeval patience{5, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      send(fd, "?", 1, 0) != 1) {
    return errno;
  }
  char answer[16];
  return recv(fd, answer, sizeof answer, 0) > 0 ? 0 : ENODATA;
}

int Listen(int fd, const sockaddr_in& any) {
  sockaddr_in address = any;
  address.sin_port = 0;
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return errno;
  }
  return Outcome(listen(fd, 1));
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Attempt> attempts;
  for (int family = 1; family <= kLastFamily; ++family) {
    attempts.push_back(
        {"family-" + std::to_string(family), [family] { return TryFamily(family); }});
  }
  attempts.push_back({"tcp-connect", [] { return OnSocket(SOCK_STREAM, 0, Ask); }});
  attempts.push_back({"tcp-listen", [] { return OnSocket(SOCK_STREAM, 0, Listen); }});
  attempts.push_back({"udp-exchange", [] { return OnSocket(SOCK_DGRAM, 0, Ask); }});
  attempts.push_back(
      {"raw-icmp", [] { return CloseAfter(socket(AF_INET, SOCK_RAW, IPPROTO_ICMP)); }});
  return hostile::RunAttempts(argc, argv, attempts);
}

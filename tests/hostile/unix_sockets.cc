// Reaches for UNIX sockets outside: by path, by abstract name, from a socket and from one end of a
// pair. Parameters: path=, abstract= of stream servers; datagram= a path, abstract-datagram= a
// name. Servers answer or record what they got. Frame: tests/hostile/attempt.h.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "tests/hostile/attempt.h"

namespace {

using hostile::InChild;
using hostile::Outcome;
using hostile::Parameter;

struct Address {
  sockaddr_un name{};
  socklen_t size = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&name); }
};

Address At(const std::string& path, bool abstract = false) {
  Address address;
  address.name.sun_family = AF_UNIX;
  const std::size_t shift = abstract ? 1 : 0;
  memcpy(address.name.sun_path + shift, path.c_str(), path.size() + 1 - shift);
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  return address;
}

// A call on a new socket, or on one end of a pair.
int With(int type, bool pair, const std::function<int(int)>& call) {
  int ends[2] = {-1, -1};
  if (pair) {
    if (socketpair(AF_UNIX, type, 0, ends) != 0) {
      return errno;
    }
  } else if ((ends[0] = socket(AF_UNIX, type, 0)) < 0) {
    return errno;
  }
  const int result = call(ends[0]);
  close(ends[0]);
  if (ends[1] >= 0) {
    close(ends[1]);
  }
  return result;
}

int Connect(bool pair, const Address& address) {
  return With(SOCK_STREAM, pair, [&](int fd) {
    if (connect(fd, address.get(), address.size) != 0) {
      return errno;
    }
    char answer[16];
    return recv(fd, answer, sizeof answer, 0) > 0 ? 0 : ENODATA;
  });
}

int Send(int type, const Address& address) {
  return With(type, false, [&](int fd) {
    return Outcome(sendto(fd, "reached", 7, 0, address.get(), address.size));
  });
}

// What comes out at the other end of the pair has reached nobody.
int SendFromPair(int type, const Address& address) {
  int ends[2];
  if (socketpair(AF_UNIX, type, 0, ends) != 0) {
    return errno;
  }
  int result = Outcome(sendto(ends[0], "reached", 7, 0, address.get(), address.size));
  char back[16];
  if (result == 0 && recv(ends[1], back, sizeof back, MSG_DONTWAIT) > 0) {
    result = hostile::kIgnored;
  }
  close(ends[0]);
  close(ends[1]);
  return result;
}

int Serve(bool abstract) {
  const std::string name = abstract ? "hostile-server" : "hostile-server.sock";
  return With(SOCK_STREAM, false, [&](int fd) {
    const Address address = At(name, abstract);
    const int result = bind(fd, address.get(), address.size) != 0 ? errno : Outcome(listen(fd, 1));
    unlink(name.c_str());
    return result;
  });
}

}  // namespace

int main(int argc, char** argv) {
  return hostile::RunAttempts(
      argc, argv,
      {
          {"path-connect", [] { return Connect(false, At(Parameter("path"))); }},
          {"abstract-connect", [] { return Connect(false, At(Parameter("abstract"), true)); }},
          {"path-send", [] { return Send(SOCK_DGRAM, At(Parameter("datagram"))); }},
          {"abstract-send",
           [] { return Send(SOCK_DGRAM, At(Parameter("abstract-datagram"), true)); }},
          {"pair-connect", [] { return Connect(true, At(Parameter("path"))); }},
          {"pair-send", [] { return SendFromPair(SOCK_DGRAM, At(Parameter("datagram"))); }},
          {"pair-raw-send", [] { return SendFromPair(SOCK_RAW, At(Parameter("datagram"))); }},
          {"pair-stream-send", [] { return SendFromPair(SOCK_STREAM, At(Parameter("datagram"))); }},
          {"pair-seqpacket-send",
           [] { return SendFromPair(SOCK_SEQPACKET, At(Parameter("datagram"))); }},
          {"path-serve", [] { return Serve(false); }},
          {"abstract-serve", [] { return Serve(true); }},
      });
}

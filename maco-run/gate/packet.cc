// sendmsg(2) and recvmsg(2) with descriptors and credentials.
// Contract: maco-run/gate/packet.h.
#include "maco-run/gate/packet.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace maco::run {
namespace {

constexpr std::size_t kMaxDescriptors = 16;

void Collect(msghdr& message, Packet& packet) {
  for (cmsghdr* control = CMSG_FIRSTHDR(&message); control != nullptr;
       control = CMSG_NXTHDR(&message, control)) {
    if (control->cmsg_level != SOL_SOCKET) {
      continue;
    }
    const std::size_t size = control->cmsg_len - CMSG_LEN(0);
    if (control->cmsg_type == SCM_RIGHTS) {
      for (std::size_t at = 0; at + sizeof(int) <= size; at += sizeof(int)) {
        int fd = -1;
        memcpy(&fd, CMSG_DATA(control) + at, sizeof fd);
        packet.descriptors.emplace_back(fd);
      }
    } else if (control->cmsg_type == SCM_CREDENTIALS && size >= sizeof(ucred)) {
      ucred credentials{};
      memcpy(&credentials, CMSG_DATA(control), sizeof credentials);
      packet.sender = credentials.pid;
    }
  }
}

}  // namespace

Result<void> SendPacket(int socket, PacketKind kind, std::span<const std::uint8_t> body,
                        std::span<const int> descriptors) {
  if (body.size() >= kMaxPacketBytes || descriptors.size() > kMaxDescriptors) {
    return Fail(Code::kLimit, "a control packet is too large");
  }
  Bytes data;
  data.push_back(static_cast<std::uint8_t>(kind));
  data.insert(data.end(), body.begin(), body.end());
  iovec piece{data.data(), data.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMaxDescriptors)> control{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
  }
  while (sendmsg(socket, &message, MSG_NOSIGNAL) < 0) {
    if (errno != EINTR) {
      return FailOs(errno, "send to the control socket");
    }
  }
  return {};
}

Result<Packet> ReceivePacket(int socket) {
  Packet packet;
  packet.body.resize(kMaxPacketBytes + 1);
  iovec piece{packet.body.data(), packet.body.size()};
  alignas(cmsghdr)
      std::array<char, CMSG_SPACE(sizeof(int) * kMaxDescriptors) + CMSG_SPACE(sizeof(ucred))>
          control{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t n = -1;
  while ((n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC)) < 0) {
    if (errno == ECONNRESET) {
      n = 0;
      break;
    }
    if (errno != EINTR) {
      return FailOs(errno, "receive from the control socket");
    }
  }
  if (n == 0) {
    packet.body.clear();
    packet.end_of_stream = true;
    return packet;
  }
  Collect(message, packet);
  if ((static_cast<unsigned>(message.msg_flags) & (MSG_TRUNC | MSG_CTRUNC)) != 0U) {
    return Fail(Code::kInvalid, "a control packet was cut off");
  }
  packet.kind = static_cast<PacketKind>(packet.body.front());
  packet.body.resize(static_cast<std::size_t>(n));
  packet.body.erase(packet.body.begin());
  return packet;
}

}  // namespace maco::run

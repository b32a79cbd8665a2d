// Packets over the control socket: body, descriptors, the sender by the kernel's word, and cut
// ones. Contract under test: maco-run/gate/packet.h, docs/formats/gate.md.
#include "maco-run/gate/packet.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>

namespace maco::run {
namespace {

struct Sockets {
  Sockets() {
    std::array<int, 2> ends{-1, -1};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
    host = UniqueFd(ends[0]);
    guardian = UniqueFd(ends[1]);
    const int on = 1;
    EXPECT_EQ(setsockopt(host.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on), 0);
  }
  UniqueFd host;
  UniqueFd guardian;
};

std::size_t OpenDescriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

TEST(Packet, CarriesKindBodyAndSender) {
  const Sockets sockets;
  const Bytes body{0, 1, 255};
  ASSERT_TRUE(SendPacket(sockets.guardian.get(), PacketKind::kReport, body).has_value());
  ASSERT_TRUE(SendPacket(sockets.guardian.get(), PacketKind::kAtGate, {}).has_value());
  const auto first = ReceivePacket(sockets.host.get());
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->kind, PacketKind::kReport);
  EXPECT_EQ(first->body, body);
  EXPECT_EQ(first->sender, getpid());
  EXPECT_FALSE(first->end_of_stream);
  const auto second = ReceivePacket(sockets.host.get());
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->kind, PacketKind::kAtGate);
  EXPECT_TRUE(second->body.empty());
}

TEST(Packet, TheKernelNamesTheSender) {
  const Sockets sockets;
  const pid_t child = fork();
  if (child == 0) {
    _exit(SendPacket(sockets.guardian.get(), PacketKind::kAtGate, {}) ? 0 : 1);
  }
  const auto packet = ReceivePacket(sockets.host.get());
  waitpid(child, nullptr, 0);
  ASSERT_TRUE(packet.has_value());
  EXPECT_EQ(packet->sender, child);
}

TEST(Packet, WithoutTheOptionNobodyIsNamed) {
  const Sockets sockets;
  ASSERT_TRUE(SendPacket(sockets.host.get(), PacketKind::kLeave, {}).has_value());
  EXPECT_EQ(ReceivePacket(sockets.guardian.get())->sender, 0);
}

TEST(Packet, CarriesDescriptorsInTheirOrder) {
  const Sockets sockets;
  const UniqueFd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const UniqueFd zero(open("/dev/zero", O_RDONLY | O_CLOEXEC));
  const std::array<int, 3> sent{zero.get(), null.get(), zero.get()};
  ASSERT_TRUE(SendPacket(sockets.host.get(), PacketKind::kLaunch, {}, sent).has_value());
  const auto packet = ReceivePacket(sockets.guardian.get());
  ASSERT_TRUE(packet.has_value());
  ASSERT_EQ(packet->descriptors.size(), 3U);
  for (std::size_t i = 0; i < sent.size(); ++i) {
    struct stat got {};
    struct stat expected {};
    ASSERT_EQ(fstat(packet->descriptors[i].get(), &got), 0);
    ASSERT_EQ(fstat(sent[i], &expected), 0);
    EXPECT_EQ(got.st_rdev, expected.st_rdev) << i;
    EXPECT_EQ(fcntl(packet->descriptors[i].get(), F_GETFD), FD_CLOEXEC);
  }
}

TEST(Packet, DescriptorsOfAPacketThatIsDroppedAreClosed) {
  const Sockets sockets;
  const std::size_t before = OpenDescriptors();
  const std::array<int, 2> sent{0, 1};
  ASSERT_TRUE(SendPacket(sockets.host.get(), PacketKind::kLaunch, {}, sent).has_value());
  { const auto packet = ReceivePacket(sockets.guardian.get()); }
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST(Packet, HasLimits) {
  const Sockets sockets;
  const Bytes largest(kMaxPacketBytes - 1, 'x');
  ASSERT_TRUE(SendPacket(sockets.host.get(), PacketKind::kReport, largest).has_value());
  EXPECT_EQ(ReceivePacket(sockets.guardian.get())->body, largest);
  const Bytes larger(kMaxPacketBytes, 'x');
  EXPECT_EQ(SendPacket(sockets.host.get(), PacketKind::kReport, larger).error().code, Code::kLimit);
  const std::array<int, 17> many{};
  EXPECT_EQ(SendPacket(sockets.host.get(), PacketKind::kReport, {}, many).error().code,
            Code::kLimit);
}

TEST(Packet, OneThatIsCutIsRefusedAndLeaksNothing) {
  const Sockets sockets;
  const std::size_t before = OpenDescriptors();
  const Bytes huge(2 * kMaxPacketBytes, 'x');
  ASSERT_EQ(send(sockets.host.get(), huge.data(), huge.size(), 0),
            static_cast<ssize_t>(huge.size()));
  EXPECT_EQ(ReceivePacket(sockets.guardian.get()).error().code, Code::kInvalid);
  // More descriptors than a receiver of ours has room for.
  constexpr std::size_t kMany = 100;
  std::array<char, CMSG_SPACE(sizeof(int) * kMany)> control{};
  char body = 'L';
  iovec piece{&body, 1};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int) * kMany);
  for (std::size_t i = 0; i < kMany; ++i) {
    const int fd = 0;
    memcpy(CMSG_DATA(header) + i * sizeof fd, &fd, sizeof fd);
  }
  ASSERT_EQ(sendmsg(sockets.host.get(), &message, 0), 1);
  EXPECT_EQ(ReceivePacket(sockets.guardian.get()).error().code, Code::kInvalid);
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST(Packet, APeerThatIsGoneIsTheEnd) {
  Sockets sockets;
  ASSERT_TRUE(SendPacket(sockets.guardian.get(), PacketKind::kAtGate, {}).has_value());
  sockets.guardian.Reset();
  EXPECT_FALSE(ReceivePacket(sockets.host.get())->end_of_stream);
  const auto end = ReceivePacket(sockets.host.get());
  ASSERT_TRUE(end.has_value());
  EXPECT_TRUE(end->end_of_stream);
  // No signal ends us.
  EXPECT_EQ(SendPacket(sockets.host.get(), PacketKind::kKill, {}).error().os_errno, EPIPE);
}

TEST(Packet, APeerThatLeftOurPacketUnreadIsTheEndToo) {
  Sockets sockets;
  ASSERT_TRUE(SendPacket(sockets.host.get(), PacketKind::kLaunch, {}).has_value());
  sockets.guardian.Reset();
  const auto end = ReceivePacket(sockets.host.get());  // the kernel says ECONNRESET
  ASSERT_TRUE(end.has_value());
  EXPECT_TRUE(end->end_of_stream);
}

TEST(Packet, AnEmptyPacketIsTheEnd) {
  const Sockets sockets;
  ASSERT_EQ(send(sockets.guardian.get(), "", 0, 0), 0);
  EXPECT_TRUE(ReceivePacket(sockets.host.get())->end_of_stream);
  EXPECT_EQ(ReceivePacket(-1).error().os_errno, EBADF);
}

}  // namespace
}  // namespace maco::run

// The guardian's report: a round trip of every field, and no truncation or surplus that is
// accepted. Contract under test: maco-run/gate/report.h, docs/formats/gate.md.
#include "maco-run/gate/report.h"

#include <gtest/gtest.h>

#include <functional>

namespace maco::run {
namespace {

PathReport SomePath(const std::string& path, std::uint64_t salt) {
  PathReport out;
  out.path = path;
  out.os_errno = static_cast<std::uint32_t>(salt);
  out.device = 0xFFFFFFFFFFFFFFF0 + salt;
  out.inode = 1000 + salt;
  out.mode = 0100600;
  out.read_only = salt % 2 == 1;
  out.open_errno = 13;
  return out;
}

Report FullReport() {
  Report report;
  report.pid = 2;
  report.parent_pid = 1;
  report.invocation_id = std::string(32, 'a');
  report.mountinfo = "2 1 0:2 / / ro - ext4 a rw\n";
  report.status = std::string("Uid:\t1\0\xFF\n", 9);
  report.cgroup = "0::/\n";
  report.namespaces = {{"mnt", 4026531840}, {"net", 0xFFFFFFFFFFFFFFFF}};
  report.limits = {{"core", {0, 0}}, {"nofile", {1024, 0xFFFFFFFFFFFFFFFF}}};
  report.roots = {SomePath("/a", 0), SomePath("/b\n\xFF", 1)};
  report.masks = {SomePath("/run", 2)};
  report.directory = SomePath("/a", 3);
  report.probes = {{"bpf", 1}, {"socketpair-stream", 0}};
  report.descriptors = {0, 1, 2};
  report.landlock_abi = 7;
  report.landlock_restricted = true;
  return report;
}

bool Same(const PathReport& a, const PathReport& b) {
  return a.path == b.path && a.os_errno == b.os_errno && a.device == b.device &&
         a.inode == b.inode && a.mode == b.mode && a.read_only == b.read_only &&
         a.open_errno == b.open_errno;
}

TEST(Report, RoundTrips) {
  const Report report = FullReport();
  const auto read = DecodeReport(EncodeReport(report));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->pid, report.pid);
  EXPECT_EQ(read->parent_pid, report.parent_pid);
  EXPECT_EQ(read->invocation_id, report.invocation_id);
  EXPECT_EQ(read->mountinfo, report.mountinfo);
  EXPECT_EQ(read->status, report.status);
  EXPECT_EQ(read->cgroup, report.cgroup);
  EXPECT_EQ(read->landlock_abi, 7U);
  EXPECT_TRUE(read->landlock_restricted);
  EXPECT_EQ(read->namespaces, report.namespaces);
  ASSERT_EQ(read->limits.size(), report.limits.size());
  EXPECT_EQ(read->limits.at("nofile").soft, 1024U);
  EXPECT_EQ(read->limits.at("nofile").hard, 0xFFFFFFFFFFFFFFFFU);
  ASSERT_EQ(read->roots.size(), 2U);
  EXPECT_TRUE(Same(read->roots[0], report.roots[0]));
  EXPECT_TRUE(Same(read->roots[1], report.roots[1]));
  ASSERT_EQ(read->masks.size(), 1U);
  EXPECT_TRUE(Same(read->masks[0], report.masks[0]));
  EXPECT_TRUE(Same(read->directory, report.directory));
  EXPECT_EQ(read->probes, report.probes);
  EXPECT_EQ(read->descriptors, report.descriptors);
}

TEST(Report, EveryTruncationIsRefused) {
  const Bytes bytes = EncodeReport(FullReport());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(DecodeReport(std::span(bytes).first(size)).error().code, Code::kInvalid) << size;
  }
}

TEST(Report, SurplusAndAnotherMagicAreRefused) {
  Bytes bytes = EncodeReport(FullReport());
  bytes.push_back(0);
  EXPECT_FALSE(DecodeReport(bytes).has_value());
  bytes.pop_back();
  bytes[0] = 'X';
  EXPECT_FALSE(DecodeReport(bytes).has_value());
}

// Replaces the first occurrence of a name of the encoded report.
Bytes Renamed(const std::string& from, const std::string& to) {
  const Bytes bytes = EncodeReport(FullReport());
  std::string text(AsText(bytes));
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos);
  text.replace(at, from.size(), to);
  return {text.begin(), text.end()};
}

TEST(Report, ANameTwiceIsRefused) {
  EXPECT_TRUE(DecodeReport(Renamed("mnt", "pid")).has_value());
  EXPECT_FALSE(DecodeReport(Renamed("mnt", "net")).has_value());
  EXPECT_FALSE(DecodeReport(Renamed(std::string("\3\0\0\0bpf", 7),
                                    std::string("\x11\0\0\0socketpair-stream", 21)))
                   .has_value());
}

TEST(Report, AGreatCountIsNotBelieved) {
  Bytes bytes = EncodeReport(FullReport());
  // The count of descriptors is followed by three numbers, and what is said of Landlock.
  const std::size_t count = bytes.size() - 5 - 4 * 4;
  for (const std::uint8_t high : Bytes{0x01, 0x7F, 0xFF}) {
    bytes[count + 3] = high;
    EXPECT_FALSE(DecodeReport(bytes).has_value());
  }
}

TEST(Report, AnEmptyOneIsNone) {
  EXPECT_FALSE(DecodeReport({}).has_value());
  EXPECT_TRUE(DecodeReport(EncodeReport({})).has_value());
}

}  // namespace
}  // namespace maco::run

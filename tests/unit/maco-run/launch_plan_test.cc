// The launch plan: what goes in comes out byte for byte, and nothing that is cut or changed is
// read. Contract under test: maco-run/gate/launch_plan.h, docs/formats/gate.md.
#include "maco-run/gate/launch_plan.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace maco::run {
namespace {

std::string AllBytesButZero() {
  std::string out;
  for (unsigned byte = 1; byte < 256; ++byte) {
    out.push_back(static_cast<char>(byte));
  }
  return out;
}

LaunchPlan FullPlan() {
  LaunchPlan plan;
  plan.steps = 0x55;
  plan.arguments = {"sh", "-c", AllBytesButZero(), "", "--", "$HOME ${x} %i \\"};
  plan.environment = {"PATH=/bin", "EMPTY=", "B=" + AllBytesButZero()};
  plan.search_path = "/usr/bin:/bin";
  plan.directory = "/home/u/w";
  plan.home = "/tmp/home";
  plan.roots = {"/home/u/w"};
  plan.masks = {"/run/dbus", "/home/u/w/.git/maco"};
  plan.probes = {"bpf"};
  plan.filter = {6, 0, 0, 0, 0, 0, 0xFF, 0x7F};
  return plan;
}

Bytes Encoded(const LaunchPlan& plan) {
  auto bytes = EncodePlan(plan);
  EXPECT_TRUE(bytes.has_value());
  return bytes ? *std::move(bytes) : Bytes();
}

TEST(LaunchPlan, RoundTripsEveryByte) {
  const LaunchPlan plan = FullPlan();
  const auto read = DecodePlan(Encoded(plan));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->steps, plan.steps);
  EXPECT_EQ(read->arguments, plan.arguments);
  EXPECT_EQ(read->environment, plan.environment);
  EXPECT_EQ(read->search_path, plan.search_path);
  EXPECT_EQ(read->directory, plan.directory);
  EXPECT_EQ(read->home, plan.home);
  EXPECT_EQ(read->roots, plan.roots);
  EXPECT_EQ(read->masks, plan.masks);
  EXPECT_EQ(read->probes, plan.probes);
  EXPECT_EQ(read->filter, plan.filter);
}

TEST(LaunchPlan, EveryTruncationIsRefused) {
  const Bytes bytes = Encoded(FullPlan());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(DecodePlan(std::span(bytes).first(size)).has_value()) << size;
  }
  Bytes longer = bytes;
  longer.push_back(0);
  EXPECT_EQ(DecodePlan(longer).error().code, Code::kInvalid);
}

TEST(LaunchPlan, AnotherMagicOrUnknownStepsAreRefused) {
  Bytes bytes = Encoded(FullPlan());
  bytes[3] = '2';
  EXPECT_FALSE(DecodePlan(bytes).has_value());
  LaunchPlan plan = FullPlan();
  plan.steps = kAllGuardianSteps;
  EXPECT_TRUE(DecodePlan(Encoded(plan)).has_value());
  plan.steps = kAllGuardianSteps + 1;
  EXPECT_FALSE(DecodePlan(Encoded(plan)).has_value());
}

TEST(LaunchPlan, ZeroBytesAndNoArgumentsAreRefused) {
  const std::string zero("a\0b", 3);
  for (auto list : {&LaunchPlan::arguments, &LaunchPlan::environment, &LaunchPlan::roots,
                    &LaunchPlan::masks, &LaunchPlan::probes}) {
    LaunchPlan plan = FullPlan();
    (plan.*list).push_back(zero);
    EXPECT_FALSE(DecodePlan(Encoded(plan)).has_value());
  }
  LaunchPlan none = FullPlan();
  none.arguments.clear();
  EXPECT_FALSE(DecodePlan(Encoded(none)).has_value());
}

TEST(LaunchPlan, HasLimits) {
  LaunchPlan many = FullPlan();
  many.environment.assign(kMaxArguments, "");
  EXPECT_TRUE(DecodePlan(Encoded(many)).has_value());
  many.environment.emplace_back();
  EXPECT_EQ(EncodePlan(many).error().code, Code::kLimit);
  LaunchPlan large = FullPlan();
  large.arguments.emplace_back(kMaxPlanString, 'x');
  EXPECT_TRUE(DecodePlan(Encoded(large)).has_value());
  large.arguments.back().push_back('x');
  EXPECT_EQ(EncodePlan(large).error().code, Code::kLimit);
  LaunchPlan whole = FullPlan();
  whole.arguments.assign(8, std::string(kMaxPlanString, 'x'));
  EXPECT_EQ(EncodePlan(whole).error().code, Code::kLimit);
}

// A list that is longer than allowed must not become an empty one.
TEST(LaunchPlan, AListThatIsTooLongIsRefused) {
  LaunchPlan plan;
  plan.arguments = {"a"};
  Bytes bytes = Encoded(plan);
  // After magic, steps and the list of one argument: the count of variables.
  constexpr std::size_t kCount = 4 + 4 + 4 + 4 + 1;
  bytes[kCount + 1] = 0x40;
  bytes[kCount] = 1;  // 16,385
  EXPECT_FALSE(DecodePlan(bytes).has_value());
}

TEST(SealedMemory, CannotBeChangedByAnybody) {
  const Bytes content{1, 2, 3};
  const auto memory = SealedMemory(content);
  ASSERT_TRUE(memory.has_value());
  EXPECT_EQ(*ReadSealed(memory->get()), content);
  EXPECT_EQ(fcntl(memory->get(), F_GETFD), FD_CLOEXEC);
  EXPECT_LT(pwrite(memory->get(), "x", 1, 0), 0);
  EXPECT_EQ(errno, EPERM);
  EXPECT_LT(ftruncate(memory->get(), 0), 0);
  EXPECT_LT(ftruncate(memory->get(), 10), 0);
  EXPECT_EQ(mmap(nullptr, 3, PROT_READ | PROT_WRITE, MAP_SHARED, memory->get(), 0), MAP_FAILED);
  EXPECT_LT(fcntl(memory->get(), F_ADD_SEALS, 0), 0);
  const std::string path = "/proc/self/fd/" + std::to_string(memory->get());
  const UniqueFd again(open(path.c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_LT(pwrite(again.get(), "x", 1, 0), 0);
  EXPECT_EQ(*ReadSealed(memory->get()), content);
}

TEST(SealedMemory, OnlySealedMemoryIsRead) {
  const UniqueFd open_memory(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_TRUE(WriteAll(open_memory.get(), AsBytes("x")).has_value());
  EXPECT_EQ(ReadSealed(open_memory.get()).error().code, Code::kInvalid);
  const int all[] = {F_SEAL_WRITE, F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_SEAL};
  for (const int seal : all) {
    EXPECT_EQ(ReadSealed(open_memory.get()).error().code, Code::kInvalid);
    ASSERT_EQ(fcntl(open_memory.get(), F_ADD_SEALS, seal), 0);
  }
  EXPECT_TRUE(ReadSealed(open_memory.get()).has_value());
  const UniqueFd file(open("/etc/passwd", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(ReadSealed(file.get()).error().code, Code::kInvalid);
  EXPECT_EQ(ReadSealed(-1).error().code, Code::kInvalid);
}

}  // namespace
}  // namespace maco::run

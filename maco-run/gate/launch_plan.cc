// Encoding of the launch plan, and sealed memory.
// Contract: maco-run/gate/launch_plan.h.
#include "maco-run/gate/launch_plan.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "libcommon/os/bounded_read.h"

namespace maco::run {
namespace {

constexpr std::uint32_t kMagic = 0x314C504D;  // "MPL1"
constexpr unsigned kSeals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

void PutList(ByteWriter& out, const std::vector<std::string>& list) {
  out.U32(static_cast<std::uint32_t>(list.size()));
  for (const auto& text : list) {
    out.String(text);
  }
}

std::vector<std::string> GetList(ByteReader& in) {
  const std::uint32_t count = in.U32();
  std::vector<std::string> list;
  if (count > kMaxArguments) {
    in.Fail();
  }
  for (std::uint32_t i = 0; in.ok() && i < count; ++i) {
    list.push_back(in.String(kMaxPlanString));
  }
  return list;
}

bool HasZero(const std::vector<std::string>& list) {
  for (const auto& text : list) {
    if (text.find('\0') != std::string::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace

Result<Bytes> EncodePlan(const LaunchPlan& plan) {
  ByteWriter out;
  out.U32(kMagic);
  out.U32(plan.steps);
  for (const auto* list : {&plan.arguments, &plan.environment, &plan.roots, &plan.masks,
                           &plan.writable, &plan.probes}) {
    if (list->size() > kMaxArguments) {
      return Fail(Code::kLimit, "more than 16384 arguments, variables or paths");
    }
    for (const auto& text : *list) {
      if (text.size() > kMaxPlanString) {
        return Fail(Code::kLimit, "an argument, variable or path is larger than 1 MiB");
      }
    }
    PutList(out, *list);
  }
  for (const auto* text : {&plan.search_path, &plan.directory, &plan.home}) {
    out.String(*text);
  }
  out.String(AsText(plan.filter));
  if (out.bytes().size() > kMaxPlanBytes) {
    return Fail(Code::kLimit, "arguments and environment are larger than 8 MiB");
  }
  return out.Take();
}

Result<LaunchPlan> DecodePlan(std::span<const std::uint8_t> bytes) {
  ByteReader in(bytes);
  LaunchPlan plan;
  const bool known = in.U32() == kMagic;
  plan.steps = in.U32();
  for (auto* list : {&plan.arguments, &plan.environment, &plan.roots, &plan.masks, &plan.writable,
                     &plan.probes}) {
    *list = GetList(in);
    if (HasZero(*list)) {
      return Fail(Code::kInvalid, "the launch plan holds a zero byte inside a string");
    }
  }
  for (auto* text : {&plan.search_path, &plan.directory, &plan.home}) {
    *text = in.String(kMaxPlanString);
  }
  const std::string filter = in.String(kMaxPlanBytes);
  plan.filter.assign(filter.begin(), filter.end());
  if (!known || !in.AtEnd() || plan.arguments.empty() || plan.steps > kAllGuardianSteps) {
    return Fail(Code::kInvalid, "the launch plan is malformed");
  }
  return plan;
}

Result<UniqueFd> SealedMemory(std::span<const std::uint8_t> bytes) {
  UniqueFd fd(memfd_create("maco", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.valid()) {
    return FailOs(errno, "create a memory file");
  }
  MACO_TRY(WriteAll(fd.get(), bytes));
  if (fcntl(fd.get(), F_ADD_SEALS, kSeals) != 0) {
    return FailOs(errno, "seal a memory file");
  }
  return fd;
}

Result<Bytes> ReadSealed(int fd) {
  const int seals = fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (static_cast<unsigned>(seals) & kSeals) != kSeals) {
    return Fail(Code::kInvalid, "the launch plan is not sealed");
  }
  return ReadAllAt(fd, kMaxPlanBytes);
}

}  // namespace maco::run

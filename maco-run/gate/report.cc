// Encoding of the guardian's report.
// Contract: maco-run/gate/report.h.
#include "maco-run/gate/report.h"

namespace maco::run {
namespace {

constexpr std::uint32_t kMagic = 0x3152474D;  // "MGR1"
constexpr std::size_t kMaxItems = 65536;
constexpr std::size_t kMaxText = 4UL << 20U;
constexpr std::size_t kMaxName = 4096;

void PutPath(ByteWriter& out, const PathReport& path) {
  out.String(path.path);
  out.U32(path.os_errno);
  out.U64(path.device);
  out.U64(path.inode);
  out.U32(path.mode);
  out.U8(path.read_only ? 1 : 0);
  out.U32(path.open_errno);
}

PathReport GetPath(ByteReader& in) {
  PathReport path;
  path.path = in.String(kMaxText);
  path.os_errno = in.U32();
  path.device = in.U64();
  path.inode = in.U64();
  path.mode = in.U32();
  path.read_only = in.U8() != 0;
  path.open_errno = in.U32();
  return path;
}

// Calls `item` for each of the counted items, as long as the input lasts.
template <typename Item>
bool Repeat(ByteReader& in, Item item) {
  const std::uint32_t count = in.U32();
  if (count > kMaxItems) {
    return false;
  }
  for (std::uint32_t i = 0; in.ok() && i < count; ++i) {
    if (!item()) {
      return false;
    }
  }
  return in.ok();
}

}  // namespace

Bytes EncodeReport(const Report& report) {
  ByteWriter out;
  out.U32(kMagic);
  out.U32(report.pid);
  out.U32(report.parent_pid);
  out.String(report.invocation_id);
  out.String(report.mountinfo);
  out.String(report.status);
  out.String(report.cgroup);
  out.U32(static_cast<std::uint32_t>(report.namespaces.size()));
  for (const auto& [name, inode] : report.namespaces) {
    out.String(name);
    out.U64(inode);
  }
  out.U32(static_cast<std::uint32_t>(report.limits.size()));
  for (const auto& [name, limit] : report.limits) {
    out.String(name);
    out.U64(limit.soft);
    out.U64(limit.hard);
  }
  for (const auto* paths : {&report.roots, &report.masks}) {
    out.U32(static_cast<std::uint32_t>(paths->size()));
    for (const auto& path : *paths) {
      PutPath(out, path);
    }
  }
  PutPath(out, report.directory);
  out.U32(static_cast<std::uint32_t>(report.probes.size()));
  for (const auto& [name, result] : report.probes) {
    out.String(name);
    out.U32(result);
  }
  out.U32(static_cast<std::uint32_t>(report.descriptors.size()));
  for (const auto descriptor : report.descriptors) {
    out.U32(descriptor);
  }
  out.U32(report.landlock_abi);
  out.U8(report.landlock_restricted ? 1 : 0);
  return out.Take();
}

Result<Report> DecodeReport(std::span<const std::uint8_t> bytes) {
  ByteReader in(bytes);
  Report report;
  bool good = in.U32() == kMagic;
  report.pid = in.U32();
  report.parent_pid = in.U32();
  report.invocation_id = in.String(kMaxName);
  report.mountinfo = in.String(kMaxText);
  report.status = in.String(kMaxText);
  report.cgroup = in.String(kMaxText);
  good = good && Repeat(in, [&] {
           std::string name = in.String(kMaxName);
           return report.namespaces.emplace(std::move(name), in.U64()).second;
         });
  good = good && Repeat(in, [&] {
           std::string name = in.String(kMaxName);
           LimitReport limit;
           limit.soft = in.U64();
           limit.hard = in.U64();
           return report.limits.emplace(std::move(name), limit).second;
         });
  for (auto* paths : {&report.roots, &report.masks}) {
    good = good && Repeat(in, [&] {
             paths->push_back(GetPath(in));
             return true;
           });
  }
  report.directory = GetPath(in);
  good = good && Repeat(in, [&] {
           std::string name = in.String(kMaxName);
           return report.probes.emplace(std::move(name), in.U32()).second;
         });
  good = good && Repeat(in, [&] {
           report.descriptors.push_back(in.U32());
           return true;
         });
  report.landlock_abi = in.U32();
  const std::uint8_t restricted = in.U8();
  report.landlock_restricted = restricted == 1;
  if (!good || restricted > 1 || !in.AtEnd()) {
    return Fail(Code::kInvalid, "the guardian's report is malformed");
  }
  return report;
}

}  // namespace maco::run

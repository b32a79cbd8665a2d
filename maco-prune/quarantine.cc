// Names against the prune log, and a few threads.
// Contract: maco-prune/quarantine.h.
#include "maco-prune/quarantine.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>

#include "libcommon/base/random_id.h"
#include "libcommon/base/text.h"

namespace maco::prune {
namespace {

constexpr std::size_t kMaxEntries = 1'000'000;

// Of "<id>.<inode>" and "<id>.<inode>+<inode>"; what somebody else put there may have parts as
// well.
Entry ReadName(const std::string& name) {
  Entry out;
  const std::size_t plus = name.rfind('+');
  out.parts = plus != std::string::npos && ParseUint(std::string_view(name).substr(plus + 1));
  out.name = out.parts ? name.substr(0, plus) : name;
  const std::size_t dot = out.name.find('.');
  const auto inode = dot == std::string::npos ? std::nullopt : ParseUint(out.name.substr(dot + 1));
  if (inode && IsRandomId(out.name.substr(0, dot))) {
    out.run = out.name.substr(0, dot);
    out.inode = *inode;
  } else {
    out.stuck = "it is not of ours";
  }
  return out;
}

std::string WhyStuck(const Directory& quarantine, const Entry& entry,
                     const std::map<std::string, PrunedRun>& pruned) {
  const auto record = pruned.find(entry.run);
  if (record == pruned.end() || record->second.inode != entry.inode) {
    return "the prune log does not know it";
  }
  const auto there = quarantine.Stat(entry.name);
  if (!there) {
    const bool only_parts = there.error().code == Code::kNotFound && entry.parts;
    return only_parts ? "" : there.error().message;
  }
  if (!S_ISDIR(there->mode) || there->inode != entry.inode) {
    return "it is not the directory that was put here";
  }
  return {};
}

}  // namespace

std::size_t SpareDescriptors() {
  constexpr std::size_t kMost = 1024;
  struct rlimit limit {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > kMost) {
    return kMost / 2;
  }
  return limit.rlim_cur / 2;
}

std::size_t Workers(std::size_t tasks, std::size_t each) {
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  return std::max<std::size_t>(1, std::min({tasks, cores, SpareDescriptors() / each}));
}

Result<std::vector<Entry>> ListQuarantine(const StateRoot& state, const Directory& quarantine) {
  std::vector<std::string> names;
  MACO_ASSIGN(names, quarantine.List(kMaxEntries));
  if (names.empty()) {
    return std::vector<Entry>();
  }
  std::map<std::string, PrunedRun> pruned;
  MACO_ASSIGN(pruned, ReadPruneLog(state));
  std::map<std::string, Entry> entries;
  for (const auto& name : names) {
    Entry entry = ReadName(name);
    const auto [known, added] = entries.emplace(entry.name, entry);
    known->second.parts = known->second.parts || entry.parts;
  }
  std::vector<Entry> out;
  for (auto& [name, entry] : entries) {
    if (entry.stuck.empty()) {
      entry.stuck = WhyStuck(quarantine, entry, pruned);
    }
    out.push_back(std::move(entry));
  }
  return out;
}

std::vector<Removal> RemoveEntries(const Directory& quarantine, const std::vector<Entry>& entries,
                                   Names names) {
  std::vector<Removal> out;
  out.reserve(entries.size());
  for (const auto& entry : entries) {
    out.push_back({entry, Deleted()});
  }
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < out.size(); i = next++) {
      const Entry& entry = out[i].entry;
      out[i].result = DeleteTree(quarantine, entry.name, entry.inode, names);
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < Workers(out.size(), kTreeDescriptors); ++i) {
    threads.emplace_back(work);
  }
  work();
  for (auto& thread : threads) {
    thread.join();
  }
  return out;
}

}  // namespace maco::prune

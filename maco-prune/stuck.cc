// `inspect`, `restore`, `discard`: what a person does with an entry of the quarantine (PRN-03).
#include <algorithm>

#include "libcommon/base/exit_code.h"
#include "libcommon/base/report.h"
#include "libcommon/base/text.h"
#include "libcommon/cli/document.h"
#include "libcommon/cli/output.h"
#include "libcommon/state/run_event.h"
#include "maco-prune/candidate.h"
#include "maco-prune/obstacle.h"
#include "maco-prune/place.h"
#include "maco-prune/quarantine.h"
#include "maco-prune/verbs.h"

namespace maco::prune {
namespace {

// The entries that were named, or all. Errors: kNotFound.
Result<std::vector<Entry>> Named(const StateRoot& state, const Directory& quarantine,
                                 const std::vector<std::string>& names) {
  std::vector<Entry> all;
  MACO_ASSIGN(all, ListQuarantine(state, quarantine));
  if (names.empty()) {
    return all;
  }
  std::vector<Entry> out;
  for (const auto& name : names) {
    const auto found = std::ranges::find(all, name, &Entry::name);
    if (found == all.end()) {
      return Fail(Code::kNotFound, "the quarantine has no '" + EscapeControl(name) + "'",
                  "'git maco prune inspect' names what it has");
    }
    out.push_back(*found);
  }
  return out;
}

Result<void> OpenNamed(const Options& options, Place& place, Directory& quarantine,
                       std::vector<Entry>& entries) {
  MACO_ASSIGN(place, OpenPlace(options.dry_run ? Access::kRead : Access::kWrite));
  auto there = place.state->dir().Open(kQuarantineName);
  if (!there && there.error().code == Code::kNotFound) {
    return Fail(Code::kNotFound, "nothing is in the quarantine");
  }
  MACO_ASSIGN(quarantine, std::move(there));
  MACO_ASSIGN(entries, Named(*place.state, quarantine, options.names));
  return {};
}

// Whether it can go back to where it was. Errors: kRefused, kCorrupt.
Result<void> RequireFitToGoBack(const StateRoot& state, const Directory& quarantine,
                                const Entry& entry) {
  if (entry.run.empty() || entry.parts) {
    return Fail(
        Code::kRefused,
        "'" + entry.name + "' " + (entry.run.empty() ? "is no run" : "is not whole any more"),
        "git maco prune discard " + entry.name);
  }
  Directory directory;
  MACO_ASSIGN(directory, quarantine.Open(entry.name));
  if (const auto whole = RequireWhole(state, directory, entry.run); !whole) {
    return Fail(whole.error().code, "'" + entry.name + "': " + whole.error().message,
                "git maco prune discard " + entry.name);
  }
  return {};
}

// Back to where it was, if that place is free.
Result<void> GiveBack(const StateRoot& state, const Directory& quarantine, const Entry& entry) {
  Directory runs;
  MACO_ASSIGN(runs, state.dir().OpenOrCreate(kRunsName, 0700));
  MACO_TRY(quarantine.Move(entry.name, runs, entry.run, Directory::IfThere::kKeep));
  MACO_TRY(runs.Sync());
  MACO_TRY(quarantine.Sync());
  return RecordPruneEnded(state, {entry.run}, "restored");
}

}  // namespace

Result<int> Inspect(const Options& options) {
  Place place;
  MACO_ASSIGN(place, OpenPlace(Access::kRead));
  const auto quarantine = place.state->dir().Open(kQuarantineName);
  std::vector<Entry> entries;
  if (quarantine) {
    MACO_ASSIGN(entries, Named(*place.state, *quarantine, options.names));
  } else if (quarantine.error().code != Code::kNotFound) {
    return Fail(quarantine.error());
  }
  Json list = Json::array();
  std::string text;
  for (auto& entry : entries) {
    if (entry.stuck.empty()) {
      entry.stuck = FindObstacle(*quarantine, entry.name);
    }
    const std::string words =
        entry.stuck.empty() ? "the next prune goes on with it" : "stuck: " + entry.stuck;
    text += EscapeControl(entry.name) + ": " + words + "\n";
    list.push_back({{"name", EscapeControl(entry.name)},
                    {"run", entry.run},
                    {"whole", !entry.parts},
                    {"stuck", EscapeControl(entry.stuck)}});
  }
  if (options.json) {
    MACO_TRY(PrintDocument("maco.prune-quarantine/1", {{"entries", std::move(list)}}));
  } else {
    MACO_TRY(Print(text));
  }
  return std::ranges::all_of(entries, [](const Entry& entry) { return entry.stuck.empty(); })
             ? kExitOk
             : kExitNo;
}

Result<int> Restore(const Options& options) {
  Place place;
  Directory quarantine;
  std::vector<Entry> entries;
  MACO_TRY(OpenNamed(options, place, quarantine, entries));
  for (const auto& entry : entries) {
    MACO_TRY(RequireFitToGoBack(*place.state, quarantine, entry));
    if (!options.dry_run) {
      MACO_TRY(GiveBack(*place.state, quarantine, entry));
    }
    MACO_TRY(Print((options.dry_run ? "would restore " : "restored ") + EscapeControl(entry.name) +
                   "; git maco journal verify run/" + entry.run + "\n"));
  }
  return kExitOk;
}

Result<int> Discard(const Options& options) {
  Place place;
  Directory quarantine;
  std::vector<Entry> entries;
  MACO_TRY(OpenNamed(options, place, quarantine, entries));
  int status = kExitOk;
  for (auto& entry : entries) {
    if (options.dry_run) {
      MACO_TRY(Print("would delete " + EscapeControl(entry.name) + "\n"));
      continue;
    }
    // The operator means what has the name now, whatever it is.
    const auto there = quarantine.Stat(entry.name);
    entry.inode = there ? there->inode : 0;
    const auto removals = RemoveEntries(quarantine, {entry}, Names::kAny);
    const auto& result = removals.front().result;
    if (!result) {
      Report(kTool, result.error());
      status = kExitNo;
      continue;
    }
    if (!entry.run.empty()) {
      MACO_TRY(RecordPruneEnded(*place.state, {entry.run}, "discarded"));
    }
    MACO_TRY(Print("deleted " + EscapeControl(entry.name) + ": " + std::to_string(result->files) +
                   " files, " + std::to_string(result->directories) + " directories\n"));
  }
  return status;
}

}  // namespace maco::prune

// Checks and copies of result files.
// Contract: maco-run/result_file.h.
#include "maco-run/result_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/text.h"
#include "libcommon/os/atomic_file.h"
#include "libcommon/os/bounded_read.h"
#include "libcommon/os/mountinfo.h"

namespace maco::run {
namespace {

constexpr std::size_t kMaxResultBytes = std::size_t{1} << 32U;

}  // namespace

Result<ResultPlace> FindResultPlace(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  ResultPlace place;
  place.name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (place.name.empty() || place.name == "." || place.name == "..") {
    return Fail(Code::kInvalid, "--result '" + path + "' names no file");
  }
  if (place.name.size() > NAME_MAX) {
    return Fail(Code::kInvalid,
                "the name of --result is longer than " + std::to_string(NAME_MAX) + " bytes",
                "choose a shorter one");
  }
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  MACO_ASSIGN(place.directory, Directory::OpenPath(directory));
  if (place.directory.Stat(place.name)) {
    return Fail(Code::kExists, "--result '" + path + "' exists already",
                "remove it, or name another file");
  }
  return place;
}

Result<void> CheckResultPlace(const ResultPlace& place, const RunSpec& spec) {
  std::array<char, PATH_MAX> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(place.directory.fd());
  const ssize_t length = readlink(link.c_str(), path.data(), path.size());
  if (length < 0) {
    return FailOs(errno, "find the path of the directory of --result");
  }
  const std::string directory(path.data(), static_cast<std::size_t>(length));
  for (const auto& root : spec.roots) {
    if (root.writable && PathIsWithin(directory, root.path)) {
      return Fail(Code::kRefused,
                  "--result lies in writable root '" + root.path +
                      "', where the run could put something else in its place",
                  "name a file in another directory");
    }
  }
  return {};
}

Result<void> RestoreResult(const StateRoot& state, const std::string& run_id,
                           const std::string& evidence, const std::string& path) {
  Json document;
  MACO_ASSIGN(document, ParseJson(evidence, kMaxJsonBytes));
  const Json outcome = document.value("outcome", Json::object());
  const std::string digest = outcome.value("result_sha256", "");
  if (digest.empty()) {
    return Fail(Code::kNotFound, "run " + run_id + " kept no result", "run it without --result");
  }
  UniqueFd fd;
  MACO_ASSIGN(
      fd, state.dir().OpenFile("runs/" + run_id + "/incoming/" + "result", O_RDONLY | O_NONBLOCK));
  Bytes bytes;
  MACO_ASSIGN(bytes, ReadAllAt(fd.get(), kMaxResultBytes));
  if (ToHex(Sha256(bytes)) != digest) {
    return Fail(Code::kCorrupt,
                "the kept result of run " + run_id + " is not what its evidence says",
                "git maco journal verify run/" + run_id);
  }
  auto place = FindResultPlace(path);
  if (!place && place.error().code == Code::kExists) {
    const auto there = ReadPath(path, kMaxResultBytes);
    return there && ToHex(Sha256(AsBytes(*there))) == digest ? Result<void>() : Fail(place.error());
  }
  if (!place) {
    return Fail(std::move(place).error());
  }
  auto file = AtomicFile::Create(place->directory, place->name);
  if (!file) {
    return Fail(std::move(file).error());
  }
  MACO_TRY(WriteAll(file->fd(), bytes));
  return file->CommitNew();
}

Json DescribeResultFile(const RunStore& store, std::uint64_t limit) {
  const auto identity = IdentityOf(store.result());
  if (!identity) {
    return Json::object();
  }
  return {{"device", identity->device},
          {"inode", identity->inode},
          {"links", identity->links},
          {"mode", identity->mode},
          {"within_limit", identity->size <= limit},
          {"name_leads_to_it", store.ResultNameLeadsToIt()}};
}

std::uint64_t ResultSize(const RunStore& store) {
  const auto identity = IdentityOf(store.result());
  return identity ? identity->size : 0;
}

Result<void> SaveResult(const RunStore& store, const ResultPlace& place, std::uint64_t limit) {
  auto bytes = ReadAllAt(store.result(), limit);
  if (!bytes) {
    Error error = std::move(bytes).error();
    error.message = "the result is not saved: " + error.message;
    error.remedy = "--result-limit sets the limit";
    return Fail(std::move(error));
  }
  auto file = AtomicFile::Create(place.directory, place.name);
  if (!file) {
    return Fail(std::move(file).error());
  }
  MACO_TRY(WriteAll(file->fd(), *bytes));
  return file->CommitNew();
}

}  // namespace maco::run

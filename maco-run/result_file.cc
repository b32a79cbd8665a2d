// Checks and copies of result files.
// Contract: maco-run/result_file.h.
#include "maco-run/result_file.h"

#include "libcommon/os/atomic_file.h"
#include "libcommon/os/bounded_read.h"

namespace maco::run {
namespace {

struct Target {
  Directory directory;
  std::string name;
};

Result<Target> Split(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  Target target;
  target.name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (target.name.empty() || target.name == "." || target.name == "..") {
    return Fail(Code::kInvalid, "--result '" + path + "' names no file");
  }
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  MACO_ASSIGN(target.directory, Directory::OpenPath(directory));
  return target;
}

}  // namespace

Result<void> CheckResultPath(const std::string& path) {
  Target target;
  MACO_ASSIGN(target, Split(path));
  if (target.directory.Stat(target.name)) {
    return Fail(Code::kExists, "--result '" + path + "' exists already",
                "remove it, or name another file");
  }
  return {};
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

Result<void> SaveResult(const RunStore& store, const std::string& path, std::uint64_t limit) {
  auto bytes = ReadAllAt(store.result(), limit);
  if (!bytes) {
    Error error = std::move(bytes).error();
    error.message = "the result is not saved: " + error.message;
    error.remedy = "--result-limit sets the limit";
    return Fail(std::move(error));
  }
  Target target;
  MACO_ASSIGN(target, Split(path));
  auto file = AtomicFile::Create(target.directory, target.name);
  if (!file) {
    return Fail(std::move(file).error());
  }
  MACO_TRY(WriteAll(file->fd(), *bytes));
  return file->CommitNew();
}

}  // namespace maco::run

// Error values: names, construction from errno, one-line form.
// Contract: libcommon/base/error.h.
#include "libcommon/base/error.h"

#include <cerrno>
#include <cstring>
#include <utility>

namespace maco {
namespace {

Code FromErrno(int os_errno) {
  switch (os_errno) {
    case ENOENT:
      return Code::kNotFound;
    case EEXIST:
      return Code::kExists;
    case EACCES:
    case EPERM:
      return Code::kPermission;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return Code::kLimit;
    default:
      return Code::kIo;
  }
}

}  // namespace

std::string_view CodeName(Code code) {
  switch (code) {
    case Code::kUsage:
      return "usage";
    case Code::kInvalid:
      return "invalid";
    case Code::kNotFound:
      return "not-found";
    case Code::kExists:
      return "exists";
    case Code::kPermission:
      return "permission";
    case Code::kUnsupported:
      return "unsupported";
    case Code::kRefused:
      return "refused";
    case Code::kLimit:
      return "limit";
    case Code::kBusy:
      return "busy";
    case Code::kCorrupt:
      return "corrupt";
    case Code::kTornTail:
      return "torn-tail";
    case Code::kTimeout:
      return "timeout";
    case Code::kIo:
      return "io";
    case Code::kInternal:
      return "internal";
  }
  return "internal";
}

Error MakeError(Code code, std::string message, std::string remedy) {
  return Error{code, std::move(message), std::move(remedy), 0};
}

Error OsError(int os_errno, std::string_view what, std::string_view subject) {
  std::string message(what);
  if (!subject.empty()) {
    message.append(" '").append(subject).append("'");
  }
  message.append(": ").append(strerror(os_errno));
  return Error{FromErrno(os_errno), std::move(message), {}, os_errno};
}

std::string Describe(const Error& error) {
  if (error.remedy.empty()) {
    return error.message;
  }
  return error.message + "; " + error.remedy;
}

}  // namespace maco

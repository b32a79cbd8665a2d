// The one error type of the suite: a closed code, what happened, what to do, and the errno.
// Exit statuses that follow from a code: libcommon/base/exit_code.h.
#pragma once
#include <string>
#include <string_view>

namespace maco {

// A caller may branch on the code; the text is for people and never parsed.
enum class Code {
  kUsage,        // the command line is wrong
  kInvalid,      // an input that a user controls is malformed or out of range
  kNotFound,     // something named does not exist
  kExists,       // something that must be new is already there
  kPermission,   // owner, mode or link count is not what safety needs
  kUnsupported,  // this host cannot do what was asked for
  kRefused,      // a check of the requested confinement failed; nothing was started
  kLimit,        // a documented bound was exceeded
  kBusy,         // another process holds the lock
  kCorrupt,      // authenticated state does not verify
  kTornTail,     // an append was cut short; `repair` can cut it off
  kTimeout,      // a fuse ended a wait
  kIo,           // the operating system reported a failure; see os_errno
  kInternal,     // a broken invariant of ours
};

struct Error {
  Code code = Code::kInternal;
  std::string message;  // what, in lower case, subject in quotes, no full stop
  std::string remedy;   // what to do, may be empty
  int os_errno = 0;     // errno of the call that failed, 0 if none
};

std::string_view CodeName(Code code);

// An error without an operating system cause.
Error MakeError(Code code, std::string message, std::string remedy = {});

// An error of the call that has just failed. Takes errno as an argument so that nothing can change
// it between the call and here. Code: kNotFound (ENOENT), kExists (EEXIST), kPermission (EACCES,
// EPERM), kLimit (ENOSPC, EDQUOT, EMFILE, ENFILE, ENOMEM), else kIo.
Error OsError(int os_errno, std::string_view what, std::string_view subject = {});

// "what: subject: reason", as OsError writes it.
std::string Describe(const Error& error);

}  // namespace maco

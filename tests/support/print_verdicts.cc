// print-verdicts: what our own reader says of many logs or signed documents, one line for each.
// For tests/vectors/compare_readers.py, which compares it with the second reader.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/exit_code.h"
#include "libcommon/base/report.h"
#include "libcommon/base/text.h"
#include "libcommon/log/log_verify.h"

namespace maco {
namespace {

constexpr char kTool[] = "print-verdicts";
constexpr char kFile[] = "log";

// The next file of standard input: its length in 4 bytes, little-endian, then its bytes.
// False at the end of the input. Errors: kIo.
Result<bool> NextFile(Bytes& out) {
  std::array<std::uint8_t, 4> prefix{};
  std::size_t got = 0;
  MACO_ASSIGN(got, ReadFull(STDIN_FILENO, prefix));
  if (got == 0) {
    return false;
  }
  out.resize(ByteReader(prefix).U32());
  MACO_ASSIGN(got, ReadFull(STDIN_FILENO, out));
  if (got != out.size()) {
    return Fail(Code::kIo, "the input ends within a file");
  }
  return true;
}

// Into the file that all logs go to in turn.
Result<void> Store(const Directory& scratch, const Bytes& bytes) {
  UniqueFd fd;
  MACO_ASSIGN(fd, scratch.OpenFile(kFile, O_WRONLY | O_CREAT, 0600));
  MACO_TRY(WriteAll(fd.get(), bytes));
  if (ftruncate(fd.get(), static_cast<off_t>(bytes.size())) != 0) {
    return FailOs(errno, "truncate");
  }
  return {};
}

// As the second reader prints it.
void PrintSummary(const LogSummary& summary) {
  printf("%s", std::string(VerdictName(summary.verdict)).c_str());
  if (summary.verdict == LogVerdict::kTornTail || summary.verdict == LogVerdict::kChanged ||
      summary.verdict == LogVerdict::kTruncated) {
    printf(" at %ju", std::uintmax_t{summary.offset});
  } else if (summary.verdict == LogVerdict::kHeadLag) {
    printf(" %u", summary.head_lag);
  }
  printf("\n");
}

Result<void> PrintLogs(const Key& key, const LogIdentity& identity, const std::string& place) {
  Directory scratch;
  MACO_ASSIGN(scratch, Directory::OpenPath(place));
  Bytes bytes;
  for (;;) {
    bool more = false;
    MACO_ASSIGN(more, NextFile(bytes));
    if (!more) {
      return {};
    }
    MACO_TRY(Store(scratch, bytes));
    const auto summary = VerifyLog(scratch, kFile, key, identity);
    if (summary) {
      PrintSummary(*summary);
    } else if (summary.error().code == Code::kUnsupported) {
      printf("unsupported log of a later version\n");
    } else {
      printf("%s\n", summary.error().code == Code::kCorrupt ? "bad-header" : "failed");
    }
  }
}

Result<void> PrintDocuments(const Key& key, std::string_view domain, std::string_view repository) {
  Bytes bytes;
  for (;;) {
    bool more = false;
    MACO_ASSIGN(more, NextFile(bytes));
    if (!more) {
      return {};
    }
    const bool valid =
        VerifyDocument(AsText(bytes), kMaxJsonBytes, key, domain, repository).has_value();
    printf("%s\n", valid ? "valid" : "invalid");
  }
}

Result<void> Print(char** arguments) {
  const auto secret = FromHex(arguments[1]);
  if (!secret) {
    return Fail(Code::kUsage, "KEY is not hex");
  }
  auto key = Key::FromBytes(*secret);
  if (!key) {
    return Fail(key.error());
  }
  if (strcmp(arguments[0], "--documents") == 0) {
    return PrintDocuments(*key, arguments[2], arguments[3]);
  }
  return PrintLogs(*key, {arguments[2], arguments[3]}, arguments[0]);
}

}  // namespace
}  // namespace maco

int main(int argc, char** argv) {
  if (argc != 5) {
    maco::Note(maco::kTool,
               "usage: print-verdicts SCRATCH_DIR KEY REPOSITORY OBJECT, "
               "or print-verdicts --documents KEY DOMAIN REPOSITORY");
    return maco::kExitUsage;
  }
  if (const auto done = maco::Print(argv + 1); !done) {
    maco::Report(maco::kTool, done.error());
    return maco::kExitFatal;
  }
  return maco::kExitOk;
}

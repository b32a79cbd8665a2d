// journal-cost: times one thing about the log, or the bare calls that it is compared with.
// Prints seconds, and for a verification the peak of resident memory in KiB. For the benchmark
// only.
#include <fcntl.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libcommon/base/exit_code.h"
#include "libcommon/base/report.h"
#include "libcommon/log/log_verify.h"
#include "libcommon/log/log_writer.h"
#include "libcommon/os/bounded_read.h"
#include "libcommon/os/proc_status.h"

namespace maco {
namespace {

constexpr char kTool[] = "journal-cost";
constexpr char kUsage[] =
    "usage: journal-cost append|bare COUNT SIZE | group COUNT SIZE | open |\n"
    "       journal-cost verify THREADS | hmac COUNT SIZE     all in the current directory";
constexpr char kName[] = "log";
constexpr std::size_t kGroup = 1000;

using Numbers = std::vector<std::uint64_t>;

Key BenchKey() {
  const std::vector<std::uint8_t> bytes(Key::kBytes, 7);
  return *Key::FromBytes(bytes);
}

const LogIdentity kIdentity{"00112233445566778899aabbccddeeff",
                            "run/0123456789abcdef0123456789abcdef"};

// Seconds that `work` takes.
Result<double> Timed(const std::function<Result<void>()>& work) {
  const auto start = std::chrono::steady_clock::now();
  MACO_TRY(work());
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Result<LogWriter> NewLog(const Directory& here, std::uint64_t bytes) {
  if (here.Stat(kName)) {
    MACO_TRY(here.Unlink(kName));
  }
  auto writer = LogWriter::Create(here, kName, BenchKey(), kIdentity);
  if (writer && bytes > 0) {
    MACO_TRY(writer->Reserve(bytes));
  }
  return writer;
}

Result<void> Append(const Directory& here, const Numbers& numbers) {
  const std::vector<std::uint8_t> payload(numbers[1], 'x');
  auto writer = NewLog(here, numbers[0] * (numbers[1] + 64));
  if (!writer) {
    return Fail(writer.error());
  }
  double seconds = 0;
  MACO_ASSIGN(seconds, Timed([&]() -> Result<void> {
                for (std::uint64_t i = 0; i < numbers[0]; ++i) {
                  MACO_TRY(writer->Append(payload, Durability::kRecord));
                }
                return {};
              }));
  printf("%.9f\n", seconds);
  return {};
}

// The least that can be durable in the same way: two writes and one flush, on a file of full size.
Result<void> Bare(const Directory& here, const Numbers& numbers) {
  const std::vector<std::uint8_t> record(numbers[1] + 64, 'x');
  const std::vector<std::uint8_t> head(96, 'h');
  constexpr std::uint64_t kFirst = 12288;
  UniqueFd fd;
  MACO_ASSIGN(fd, here.OpenFile("bare", O_RDWR | O_CREAT | O_TRUNC, 0600));
  const std::vector<std::uint8_t> zeros(kFirst + numbers[0] * record.size());
  MACO_TRY(PwriteAll(fd.get(), zeros, 0));
  MACO_TRY(Sync(fd.get()));
  double seconds = 0;
  MACO_ASSIGN(seconds, Timed([&]() -> Result<void> {
                for (std::uint64_t i = 0; i < numbers[0]; ++i) {
                  MACO_TRY(PwriteAll(fd.get(), record, kFirst + i * record.size()));
                  MACO_TRY(SyncData(fd.get()));
                  MACO_TRY(PwriteAll(fd.get(), head, 4096 * (1 + i % 2)));
                }
                return {};
              }));
  printf("%.9f\n", seconds);
  return {};
}

// COUNT records in batches of 1000.
Result<void> Group(const Directory& here, const Numbers& numbers) {
  const std::vector<std::uint8_t> payload(numbers[1], 'x');
  const std::vector<std::span<const std::uint8_t>> group(kGroup, payload);
  auto writer = NewLog(here, 0);
  if (!writer) {
    return Fail(writer.error());
  }
  double seconds = 0;
  MACO_ASSIGN(seconds, Timed([&]() -> Result<void> {
                for (std::uint64_t done = 0; done < numbers[0]; done += kGroup) {
                  MACO_TRY(writer->AppendGroup(group, Durability::kRecord));
                }
                return {};
              }));
  printf("%.9f\n", seconds);
  // The usual end of a log: opening verifies the last batch, and that is one record.
  MACO_TRY(writer->Append(payload, Durability::kRecord));
  return writer->Close();
}

Result<void> Open(const Directory& here, const Numbers& /*numbers*/) {
  double seconds = 0;
  MACO_ASSIGN(seconds, Timed([&]() -> Result<void> {
                const auto writer = LogWriter::Open(here, kName, BenchKey(), kIdentity);
                return writer ? Result<void>() : Fail(writer.error());
              }));
  printf("%.9f\n", seconds);
  return {};
}

// Not ru_maxrss, which also counts the process that started this one, before execve.
Result<unsigned long> PeakResidentKib() {
  constexpr std::size_t kMaxStatusBytes = 1UL << 16U;
  std::string text;
  MACO_ASSIGN(text, ReadPath("/proc/self/status", kMaxStatusBytes));
  StatusFields fields;
  MACO_ASSIGN(fields, ParseStatus(text));
  return strtoul(fields["VmHWM"].c_str(), nullptr, 10);
}

Result<void> Verify(const Directory& here, const Numbers& numbers) {
  double seconds = 0;
  MACO_ASSIGN(
      seconds, Timed([&]() -> Result<void> {
        const auto summary =
            VerifyLog(here, kName, BenchKey(), kIdentity, static_cast<unsigned>(numbers[0]));
        if (!summary) {
          return Fail(summary.error());
        }
        return summary->intact() ? Result<void>() : Fail(Code::kCorrupt, "the log does not verify");
      }));
  unsigned long resident = 0;
  MACO_ASSIGN(resident, PeakResidentKib());
  printf("%.9f %lu\n", seconds, resident);
  return {};
}

// libcrypto alone: the key is set up once.
Result<void> Hmac(const Directory& /*here*/, const Numbers& numbers) {
  const std::vector<std::uint8_t> record(numbers[1], 'x');
  EVP_MAC* mac = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
  EVP_MAC_CTX* context = EVP_MAC_CTX_new(mac);
  char digest[] = "SHA256";
  const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
                               OSSL_PARAM_construct_end()};
  std::array<std::uint8_t, 32> out{};
  std::size_t written = 0;
  bool ok = EVP_MAC_init(context, out.data(), out.size(), params) == 1;
  double seconds = 0;
  MACO_ASSIGN(seconds, Timed([&]() -> Result<void> {
                for (std::uint64_t i = 0; i < numbers[0] && ok; ++i) {
                  ok = EVP_MAC_init(context, nullptr, 0, nullptr) == 1 &&
                       EVP_MAC_update(context, record.data(), record.size()) == 1 &&
                       EVP_MAC_final(context, out.data(), &written, out.size()) == 1;
                }
                return {};
              }));
  EVP_MAC_CTX_free(context);
  EVP_MAC_free(mac);
  printf("%.9f\n", seconds);
  return ok ? Result<void>() : Fail(Code::kInternal, "libcrypto failed");
}

Result<void> Run(const std::string& what, const Numbers& numbers) {
  struct Kind {
    Result<void> (*run)(const Directory&, const Numbers&);
    std::size_t numbers;
  };
  const std::map<std::string, Kind> kinds = {{"append", {Append, 2}}, {"bare", {Bare, 2}},
                                             {"group", {Group, 2}},   {"open", {Open, 0}},
                                             {"verify", {Verify, 1}}, {"hmac", {Hmac, 2}}};
  const auto kind = kinds.find(what);
  if (kind == kinds.end() || kind->second.numbers != numbers.size()) {
    return Fail(Code::kUsage, kUsage);
  }
  Directory here;
  MACO_ASSIGN(here, Directory::OpenPath("."));
  return kind->second.run(here, numbers);
}

}  // namespace
}  // namespace maco

int main(int argc, char** argv) {
  maco::Numbers numbers;
  for (int i = 2; i < argc; ++i) {
    numbers.push_back(strtoull(argv[i], nullptr, 10));
  }
  if (const auto done = maco::Run(argc > 1 ? argv[1] : "", numbers); !done) {
    maco::Report(maco::kTool, done.error());
    return maco::kExitFatal;
  }
  return maco::kExitOk;
}

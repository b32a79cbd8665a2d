// Runs every file of the given directories once through a fuzz target: a plain test, any compiler.
// Status 1 without a single file, or if one cannot be read; a finding aborts.
#include <cstdint>
#include <cstdio>
#include <filesystem>

#include "libcommon/base/byte_codec.h"
#include "libcommon/os/bounded_read.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  constexpr std::size_t kMaxInput = 1UL << 24U;
  int count = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      const auto text = maco::ReadPath(entry.path(), kMaxInput);
      if (!text) {
        fprintf(stderr, "%s\n", text.error().message.c_str());
        return 1;
      }
      printf("%s\n", entry.path().c_str());
      fflush(stdout);
      const auto bytes = maco::AsBytes(*text);
      LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
      ++count;
    }
  }
  return count > 0 ? 0 : 1;
}

// What the tunable glibc.malloc.hugetlb=1 does, but only for programs that read a large table.
// Contract: libcommon/store/row_memory.h. Source: mallopt(3), madvise(2).
#include "libcommon/store/row_memory.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

namespace maco {
namespace {

#ifdef __GLIBC__
constexpr std::uint64_t kWorthIt = std::uint64_t{1} << 20U;
constexpr std::uint64_t kMost = std::uint64_t{64} << 20U;
constexpr std::uintptr_t kLargePage = std::uintptr_t{2} << 20U;
constexpr std::size_t kStep = std::size_t{1} << 20U;

std::uintptr_t HeapEnd() { return reinterpret_cast<std::uintptr_t>(sbrk(0)); }
#endif

}  // namespace

void ExpectRows(std::uint64_t bytes) {
#ifdef __GLIBC__
  if (bytes < kWorthIt) {
    return;
  }
  // Stays set: what the heap has grown by is else given back with the first large block.
  mallopt(M_TOP_PAD, static_cast<int>(std::min(bytes, kMost)));
  mallopt(M_MMAP_THRESHOLD, static_cast<int>(4 * kStep));  // or it would be fixed at 128 KiB
  const std::uintptr_t before = HeapEnd();
  const auto step = std::make_unique_for_overwrite<char[]>(kStep);  // makes it grow
  *static_cast<volatile char*>(step.get()) = 0;  // or the compiler leaves out what nobody uses
  const std::uintptr_t begin = (before + kLargePage - 1) / kLargePage * kLargePage;
  const std::uintptr_t end = HeapEnd() / kLargePage * kLargePage;
  if (begin < end) {
    // Another size of pages, or none: then it has no effect.
    [[maybe_unused]] const int advised =
        madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
  }
#else
  static_cast<void>(bytes);
#endif
}

}  // namespace maco

// Any bytes as the guardian's report: what is accepted can be written again with the same meaning,
// described as observations, and judged.
// Contract under test: docs/formats/gate.md, "Report".
#include <cstdint>
#include <cstdlib>

#include "maco-run/gate/report.h"
#include "maco-run/record/judge.h"
#include "maco-run/record/observations.h"

namespace {

void Require(bool ok) {
  if (!ok) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto report = maco::run::DecodeReport({data, size});
  if (!report) {
    return 0;
  }
  const maco::Bytes encoded = maco::run::EncodeReport(*report);
  const auto again = maco::run::DecodeReport(encoded);
  Require(again && maco::run::EncodeReport(*again) == encoded);
  const auto inside = maco::run::DescribeReport(*report);
  if (inside) {
    const maco::Json document = {{"observations", {{"inside", *inside}}}};
    Require(!maco::run::Judge(document, maco::run::Stage::kGate).empty());
  }
  return 0;
}

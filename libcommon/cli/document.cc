// Contract: libcommon/cli/document.h.
#include "libcommon/cli/document.h"

#include "libcommon/auth/canonical_json.h"
#include "libcommon/cli/output.h"

namespace maco {

Result<void> PrintDocument(const char* schema, Json document) {
  document["schema"] = schema;
  std::string text;
  MACO_ASSIGN(text, Canonicalize(document));
  return Print(text + "\n");
}

}  // namespace maco

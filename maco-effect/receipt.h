// Receipts as people write them. Pure.
#pragma once

#include <string>

#include "libcommon/effect/effect_row.h"

namespace maco::effect {

// "17", "#17", "issue/17", the URL of the thing; for a push an object id. Errors: kUsage.
Result<Receipt> ReceiptOf(const Effect& effect, const std::string& text);

}  // namespace maco::effect

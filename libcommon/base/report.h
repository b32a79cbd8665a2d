// Prints an error once, as one line on standard error.
// Form: "<tool>: <message>; <remedy>", control bytes escaped. A standard error that takes nothing
// for 10 s (a full pipe, a stopped terminal) is given up: this line and all later ones are left
// out.
#pragma once
#include <string_view>

#include "libcommon/base/error.h"

namespace maco {

void Report(std::string_view tool, const Error& error);

// The same line form for a note that is no error.
void Note(std::string_view tool, std::string_view text);

}  // namespace maco

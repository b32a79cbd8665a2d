// URLs as messages have them: without what may be a secret. Pure.
#pragma once

#include <string>

namespace maco::effect {

// One line: no user information (over ssh the name of the user stays), no query.
std::string ShownUrl(const std::string& url);

}  // namespace maco::effect

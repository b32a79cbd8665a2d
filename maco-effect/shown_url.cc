// User information of both forms of a URL, and queries.
// Contract: maco-effect/shown_url.h. Source: git-push(1), "GIT URLS".
#include "maco-effect/shown_url.h"

#include "libcommon/base/text.h"
#include "libcommon/git/private_repository.h"

namespace maco::effect {

std::string ShownUrl(const std::string& url) {
  std::string out = WithoutCredentials(url);
  // "user@host:path" is the short form of ssh; "user:password@host/path" is none, but is written.
  const std::size_t at = out.substr(0, out.find('/')).rfind('@');
  if (out.find("://") == std::string::npos && at != std::string::npos && out.find(':') < at) {
    out.erase(0, at + 1);
  }
  const std::size_t query = out.find('?');
  if (query != std::string::npos) {
    out = out.substr(0, query) + "?...";
  }
  return EscapeControl(out);
}

}  // namespace maco::effect

// Pull requests, issues and comments through a forge's REST API.
// Requirements EFF-03, EFF-04; docs/design/effects.md says why it asks what it asks.
#pragma once

#include <memory>

#include "libcommon/auth/state_root.h"
#include "maco-effect/forge/token.h"
#include "maco-effect/transport.h"

namespace maco::effect {

struct ForgeSettings {
  std::string host;       // as people name it: "github.com"
  std::string transport;  // "github", "gitlab", "gitea"
  std::string api;        // base URL
  std::string token;      // where it is, see token.h
  std::string ca_file;
  std::chrono::milliseconds timeout{120'000};
};

// The token is fetched when it is first needed.
std::unique_ptr<Transport> MakeForgeTransport(const StateRoot& state, ForgeSettings settings);

// The request as it would be sent, without the token: for --dry-run. Errors: kInvalid.
Result<Json> ShowRequest(const Request& request, const std::string& marker);

}  // namespace maco::effect

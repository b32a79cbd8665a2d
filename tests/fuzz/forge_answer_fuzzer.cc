// Any bytes as a forge's answer, and as what git says of a push: nothing is read beyond it, and
// what is read as an item has what it is judged by. Contract under test:
// maco-effect/forge/dialect.h, maco-effect/forge/answers.h.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "maco-effect/forge/answers.h"
#include "maco-effect/forge/dialect.h"
#include "maco-effect/git_transport.h"

namespace {

void Require(bool ok) {
  if (!ok) {
    std::abort();
  }
}

void ReadItems(const maco::effect::Dialect& dialect, const maco::Json& json) {
  for (const char* kind : {"issue", "pr", "comment"}) {
    if (const auto item = dialect.ReadItem(kind, 1, json)) {
      Require(item->receipt.id.starts_with(kind) && !item->author_id.empty());
    }
    (void)dialect.Belongs(kind, json);
  }
  (void)dialect.ReadActor(json);
  (void)dialect.ReadRepository(json);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  maco::effect::HttpResponse response{200, {}, text};
  response.headers["link"] = text.substr(0, size / 2);
  response.headers["retry-after"] = text.substr(0, 8);
  if (const auto answer = maco::effect::ReadAnswer(response, true)) {
    for (const char* name : {"github", "gitlab", "gitea"}) {
      ReadItems(*maco::effect::MakeDialect(name), answer->json);
    }
  }
  response.status = 429;
  (void)maco::effect::WaitUntil(response, 1);
  Require(maco::effect::RefusalOf("host", response).message.find('\n') == std::string::npos);
  (void)maco::effect::HttpDate(text);
  const auto outcome =
      maco::effect::ReadPushReport(text, "refs/heads/x", std::string(40, 'a'), text);
  Require(outcome.kind == maco::effect::Outcome::Kind::kApplied ||
          outcome.reason.find('\n') == std::string::npos);
  (void)maco::effect::ReadRemoteRef(text, "refs/heads/x");
  return 0;
}

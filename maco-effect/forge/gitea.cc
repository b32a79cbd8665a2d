// Gitea and Forgejo: labels by number, lists of at most 50, comments without pages.
// Contract: maco-effect/forge/dialect.h. Source: docs.gitea.com/api.
#include "maco-effect/forge/dialect.h"

namespace maco::effect {
namespace {

constexpr char kPage[] = "limit=50&page=";

// Where the branch was deleted, "ref" is that of the pull request, "refs/pull/7/head". The label is
// still the branch, "owner:branch" if it is in a fork.
Result<std::string> BranchOf(const Json& side) {
  std::string ref;
  MACO_ASSIGN(ref, TextOf(side, "ref"));
  const std::string label = OptionalText(side, "label");
  if (!ref.starts_with("refs/pull/") || label.empty()) {
    return ref;
  }
  const std::size_t colon = label.find(':');
  return colon == std::string::npos ? label : label.substr(colon + 1);
}

class Gitea : public Dialect {
 public:
  std::vector<std::string> Headers(const std::string& token) const override {
    return {"Accept: application/json", "Authorization: token " + token};
  }

  std::string RepositoryPathOf(const std::string& path) const override { return "/repos/" + path; }

  std::string CreatePath(const Request& request) const override {
    const std::string root = RepositoryPathOf(RepositoryPath(request));
    if (request.operation == "pr") {
      return root + "/pulls";
    }
    return request.operation == "issue"
               ? root + "/issues"
               : root + "/issues/" + std::to_string(request.number) + "/comments";
  }

  std::string ListPath(const Request& request, const ListQuery& query) const override {
    const std::string page = kPage + std::to_string(query.page);
    const std::string since = SinceText("since", query);
    const std::string path = CreatePath(request);
    if (request.operation == "pr") {
      return path + "?state=all&sort=recentupdate&" + page;
    }
    if (request.operation == "issue") {
      return path + "?state=all&type=issues&created_by=" + Encoded(query.actor_name) + "&" + since +
             page;
    }
    return path + "?" + since;
  }

  std::string ItemPath(const Effect& effect) const override {
    const std::string root =
        RepositoryPathOf(effect.repository.substr(effect.repository.find('/') + 1));
    const std::string id = effect.receipt.id.substr(effect.receipt.id.find('/') + 1);
    if (effect.operation == "pr") {
      return root + "/pulls/" + id;
    }
    return root + (effect.operation == "issue" ? "/issues/" : "/issues/comments/") + id;
  }

  std::string LabelPath(const Request& request) const override {
    return RepositoryPathOf(RepositoryPath(request)) + "/labels?" + kPage;
  }

  bool paged(const Request& request) const override { return request.operation != "comment"; }

  std::uint64_t DescendingTime(const Request& request, const Json& row) const override {
    return request.operation == "pr" ? TimeOf(row, "updated_at").value_or(0) : 0;
  }

  Json CreateBody(const Request& request, const std::string& body,
                  const std::vector<std::uint64_t>& labels) const override {
    Json out = {{"body", body}};
    if (request.operation == "comment") {
      return out;
    }
    out["title"] = request.title;
    if (request.operation == "pr") {
      out["head"] = request.head;
      out["base"] = request.base;
      if (request.draft) {
        out["title"] = "WIP: " + request.title;
      }
    }
    if (!labels.empty()) {
      out["labels"] = labels;
    }
    return out;
  }

  Result<Account> ReadActor(const Json& answer) const override {
    Account out;
    std::uint64_t id = 0;
    MACO_ASSIGN(id, NumberOf(answer, "id"));
    MACO_ASSIGN(out.name, TextOf(answer, "login"));
    out.id = std::to_string(id);
    return out;
  }

  Result<ForgeRepository> ReadRepository(const Json& answer) const override {
    ForgeRepository out;
    std::uint64_t id = 0;
    MACO_ASSIGN(id, NumberOf(answer, "id"));
    MACO_ASSIGN(out.path, TextOf(answer, "full_name"));
    out.default_branch = OptionalText(answer, "default_branch");
    out.id = std::to_string(id);
    return out;
  }

  Result<Item> ReadItem(const std::string& kind, std::uint64_t number,
                        const Json& answer) const override {
    constexpr std::string_view kDraft = "WIP: ";
    Item out;
    out.kind = kind;
    Account author;
    const Json* user = nullptr;
    MACO_ASSIGN(user, ObjectOf(answer, "user"));
    MACO_ASSIGN(author, ReadActor(*user));
    out.author_id = author.id;
    MACO_ASSIGN(out.created_us, TimeOf(answer, "created_at"));
    out.body = OptionalText(answer, "body");
    out.receipt.url = OptionalText(answer, "html_url");
    if (kind == "comment") {
      std::uint64_t id = 0;
      MACO_ASSIGN(id, NumberOf(answer, "id"));
      out.receipt.id = "comment/" + std::to_string(id);
      out.receipt.number = number;
      out.state = "there";
      const std::string tail = "/" + std::to_string(number);
      const bool about = OptionalText(answer, "issue_url").ends_with(tail) ||
                         OptionalText(answer, "pull_request_url").ends_with(tail);
      return about ? Result<Item>(std::move(out)) : Fail(BadAnswer("issue_url"));
    }
    MACO_ASSIGN(out.receipt.number, NumberOf(answer, "number"));
    MACO_ASSIGN(out.title, TextOf(answer, "title"));
    MACO_ASSIGN(out.state, TextOf(answer, "state"));
    out.receipt.id = kind + "/" + std::to_string(out.receipt.number);
    if (const auto repository = ObjectOf(answer, "repository")) {
      out.repository_id = OptionalId(**repository, "id");
    }
    if (kind == "pr") {
      const Json* head = nullptr;
      const Json* base = nullptr;
      MACO_ASSIGN(head, ObjectOf(answer, "head"));
      MACO_ASSIGN(base, ObjectOf(answer, "base"));
      MACO_ASSIGN(out.head, BranchOf(*head));
      MACO_ASSIGN(out.base, TextOf(*base, "ref"));
      out.repository_id = OptionalId(*base, "repo_id");
      const auto merged = answer.find("merged");
      if (merged != answer.end() && merged->is_boolean() && merged->get<bool>()) {
        out.state = "merged";
      }
      if (out.title.starts_with(kDraft)) {
        out.title.erase(0, kDraft.size());
      }
    }
    return out;
  }

  bool SaysExists(unsigned status, const std::string& /*body*/) const override {
    constexpr unsigned kConflict = 409;
    return status == kConflict;
  }
};

}  // namespace

std::unique_ptr<Dialect> MakeGitea() { return std::make_unique<Gitea>(); }

}  // namespace maco::effect

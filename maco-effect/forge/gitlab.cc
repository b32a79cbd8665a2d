// GitLab: merge requests are pull requests, notes are comments, `iid` is the number.
// Contract: maco-effect/forge/dialect.h. Source: docs.gitlab.com/api.
#include "maco-effect/forge/dialect.h"

namespace maco::effect {
namespace {

constexpr char kPage[] = "per_page=100&page=";
constexpr std::string_view kDraft = "Draft: ";

class Gitlab : public Dialect {
 public:
  std::vector<std::string> Headers(const std::string& token) const override {
    return {"Accept: application/json", "Authorization: Bearer " + token};
  }

  std::string RepositoryPathOf(const std::string& path) const override {
    return "/projects/" + Encoded(path);
  }

  std::string CreatePath(const Request& request) const override {
    const std::string root = RepositoryPathOf(RepositoryPath(request));
    if (request.operation == "pr") {
      return root + "/merge_requests";
    }
    if (request.operation == "issue") {
      return root + "/issues";
    }
    return root + Notes(request.on_pr, request.number);
  }

  std::string ListPath(const Request& request, const ListQuery& query) const override {
    const std::string page = kPage + std::to_string(query.page);
    const std::string path = CreatePath(request);
    if (request.operation == "pr") {
      return path + "?state=all&source_branch=" + Encoded(request.head) + "&" + page;
    }
    if (request.operation == "issue") {
      return path + "?state=all&scope=all&author_username=" + Encoded(query.actor_name) + "&" +
             SinceText("created_after", query) + page;
    }
    return path + "?sort=desc&order_by=created_at&" + page;
  }

  std::string ItemPath(const Effect& effect) const override {
    const std::string root =
        RepositoryPathOf(effect.repository.substr(effect.repository.find('/') + 1));
    const std::string id = effect.receipt.id.substr(effect.receipt.id.find('/') + 1);
    if (effect.operation == "pr") {
      return root + "/merge_requests/" + id;
    }
    if (effect.operation == "issue") {
      return root + "/issues/" + id;
    }
    return root + Notes(effect.target.starts_with('!'), effect.receipt.number) + "/" + id;
  }

  std::uint64_t DescendingTime(const Request& request, const Json& row) const override {
    return request.operation == "comment" ? TimeOf(row, "created_at").value_or(0) : 0;
  }

  Json CreateBody(const Request& request, const std::string& body,
                  const std::vector<std::uint64_t>& /*labels*/) const override {
    if (request.operation == "comment") {
      return {{"body", body}};
    }
    Json out = {{"title", request.title}, {"description", body}};
    if (request.operation == "pr") {
      out["source_branch"] = request.head;
      out["target_branch"] = request.base;
      if (request.draft) {
        out["title"] = std::string(kDraft) + request.title;
      }
    }
    if (!request.labels.empty()) {
      std::string labels;
      for (const auto& label : request.labels) {
        labels += (labels.empty() ? "" : ",") + label;
      }
      out["labels"] = labels;
    }
    return out;
  }

  Result<Account> ReadActor(const Json& answer) const override {
    Account out;
    std::uint64_t id = 0;
    MACO_ASSIGN(id, NumberOf(answer, "id"));
    MACO_ASSIGN(out.name, TextOf(answer, "username"));
    out.id = std::to_string(id);
    return out;
  }

  Result<ForgeRepository> ReadRepository(const Json& answer) const override {
    ForgeRepository out;
    std::uint64_t id = 0;
    MACO_ASSIGN(id, NumberOf(answer, "id"));
    MACO_ASSIGN(out.path, TextOf(answer, "path_with_namespace"));
    out.default_branch = OptionalText(answer, "default_branch");
    out.id = std::to_string(id);
    return out;
  }

  Result<Item> ReadItem(const std::string& kind, std::uint64_t number,
                        const Json& answer) const override {
    Item out;
    out.kind = kind;
    Account author;
    const Json* user = nullptr;
    MACO_ASSIGN(user, ObjectOf(answer, "author"));
    MACO_ASSIGN(author, ReadActor(*user));
    out.author_id = author.id;
    MACO_ASSIGN(out.created_us, TimeOf(answer, "created_at"));
    out.repository_id = OptionalId(answer, "project_id");
    if (kind == "comment") {
      std::uint64_t id = 0;
      MACO_ASSIGN(id, NumberOf(answer, "id"));
      std::uint64_t about = 0;
      MACO_ASSIGN(about, NumberOf(answer, "noteable_iid"));
      if (about != number) {
        return Fail(BadAnswer("noteable_iid"));
      }
      out.body = OptionalText(answer, "body");
      out.receipt = {"comment/" + std::to_string(id), "", number};
      out.state = "there";
      return out;
    }
    MACO_ASSIGN(out.receipt.number, NumberOf(answer, "iid"));
    MACO_ASSIGN(out.title, TextOf(answer, "title"));
    MACO_ASSIGN(out.state, TextOf(answer, "state"));
    out.body = OptionalText(answer, "description");
    out.receipt.url = OptionalText(answer, "web_url");
    out.receipt.id = kind + "/" + std::to_string(out.receipt.number);
    if (out.state == "opened" || out.state == "locked") {
      out.state = "open";
    }
    if (kind == "pr") {
      MACO_ASSIGN(out.head, TextOf(answer, "source_branch"));
      MACO_ASSIGN(out.base, TextOf(answer, "target_branch"));
      if (out.title.starts_with(kDraft)) {
        out.title.erase(0, kDraft.size());  // a state, as open and merged are
      }
    }
    return out;
  }

  bool SaysExists(unsigned status, const std::string& /*body*/) const override {
    constexpr unsigned kConflict = 409;
    return status == kConflict;
  }

 private:
  static std::string Notes(bool on_pr, std::uint64_t number) {
    return (on_pr ? "/merge_requests/" : "/issues/") + std::to_string(number) + "/notes";
  }
};

}  // namespace

std::unique_ptr<Dialect> MakeGitlab() { return std::make_unique<Gitlab>(); }

}  // namespace maco::effect

// GitHub, its enterprise server included.
// Contract: maco-effect/forge/dialect.h. Source: docs.github.com/rest (pulls, issues, comments).
#include "libcommon/store/json_members.h"
#include "maco-effect/forge/dialect.h"

namespace maco::effect {
namespace {

constexpr char kPage[] = "per_page=100&page=";

// "acme/app" of "https://api.github.com/repos/acme/app/issues/17"; empty if there is no such part.
std::string PathIn(const std::string& url) {
  constexpr std::string_view kRoot = "/repos/";
  const std::size_t root = url.find(kRoot);
  if (root == std::string::npos) {
    return {};
  }
  const std::string path = url.substr(root + kRoot.size());
  const std::size_t slash = path.find('/');
  return slash == std::string::npos ? "" : path.substr(0, path.find('/', slash + 1));
}

class Github : public Dialect {
 public:
  std::vector<std::string> Headers(const std::string& token) const override {
    return {"Accept: application/vnd.github+json", "X-GitHub-Api-Version: 2022-11-28",
            "Authorization: Bearer " + token};
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
      return path + "?state=all&head=" + Encoded(query.owner + ":" + request.head) + "&" + page;
    }
    if (request.operation == "issue") {
      return path + "?state=all&creator=" + Encoded(query.actor_name) + "&" + since + page;
    }
    return path + "?" + since + page;
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

  Json CreateBody(const Request& request, const std::string& body,
                  const std::vector<std::uint64_t>& /*labels*/) const override {
    Json out = {{"body", body}};
    if (request.operation == "pr") {
      out["title"] = request.title;
      out["head"] = request.head;
      out["base"] = request.base;
      out["draft"] = request.draft;
    } else if (request.operation == "issue") {
      out["title"] = request.title;
      if (!request.labels.empty()) {
        out["labels"] = request.labels;
      }
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
    Item out;
    out.kind = kind;
    std::uint64_t id = 0;
    MACO_ASSIGN(id, NumberOf(answer, "id"));
    Account author;
    const Json* user = nullptr;
    MACO_ASSIGN(user, ObjectOf(answer, "user"));
    MACO_ASSIGN(author, ReadActor(*user));
    out.author_id = author.id;
    MACO_ASSIGN(out.created_us, TimeOf(answer, "created_at"));
    out.body = OptionalText(answer, "body");
    out.receipt.url = OptionalText(answer, "html_url");
    if (kind == "comment") {
      out.receipt.id = "comment/" + std::to_string(id);
      out.receipt.number = number;
      out.state = "there";
      std::string about;
      MACO_ASSIGN(about, TextOf(answer, "issue_url"));
      out.repository_path = PathIn(about);
      return about.ends_with("/" + std::to_string(number)) ? Result<Item>(std::move(out))
                                                           : Fail(BadAnswer("issue_url"));
    }
    MACO_ASSIGN(out.receipt.number, NumberOf(answer, "number"));
    MACO_ASSIGN(out.title, TextOf(answer, "title"));
    MACO_ASSIGN(out.state, TextOf(answer, "state"));
    out.receipt.id = kind + "/" + std::to_string(out.receipt.number);
    out.repository_path = PathIn(OptionalText(answer, "repository_url"));
    if (kind == "pr") {
      const Json* head = nullptr;
      const Json* base = nullptr;
      MACO_ASSIGN(head, ObjectOf(answer, "head"));
      MACO_ASSIGN(base, ObjectOf(answer, "base"));
      MACO_ASSIGN(out.head, TextOf(*head, "ref"));
      MACO_ASSIGN(out.base, TextOf(*base, "ref"));
      if (const auto repository = ObjectOf(*base, "repo")) {
        out.repository_id = OptionalId(**repository, "id");
      }
      if (!OptionalText(answer, "merged_at").empty()) {
        out.state = "merged";
      }
    }
    return out;
  }

  bool Belongs(const std::string& kind, const Json& row) const override {
    return kind != "issue" || !row.is_object() || Member(row, "pull_request") == nullptr;
  }

  bool SaysExists(unsigned status, const std::string& body) const override {
    constexpr unsigned kConflict = 409;
    constexpr unsigned kUnprocessable = 422;
    return status == kConflict || (status == kUnprocessable &&
                                   body.find("A pull request already exists") != std::string::npos);
  }
};

}  // namespace

std::unique_ptr<Dialect> MakeGithub() { return std::make_unique<Github>(); }

}  // namespace maco::effect

// Dialect: how one kind of forge is asked, and how its answers read. Pure: no I/O.
// Sources: GitHub REST API, GitLab REST API v4, Gitea API v1, as the forges publish them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "libcommon/auth/json.h"
#include "libcommon/base/result.h"
#include "maco-effect/forge/http.h"
#include "maco-effect/request.h"

namespace maco::effect {

// A pull request, an issue or a comment, whatever the forge calls it.
struct Item {
  std::string kind;  // "pr", "issue", "comment"
  Receipt receipt;
  std::string author_id;
  std::string title;  // of a comment: empty, as head and base are
  std::string body;
  std::string head;
  std::string base;
  std::string state;  // "open", "closed", "merged"; of a comment: "there"
  std::uint64_t created_us = 0;
  // Of the repository that it is in, where the answer says it.
  std::string repository_id;
  std::string repository_path;
};

struct Account {
  std::string id;
  std::string name;
};

struct ForgeRepository {
  std::string id;
  std::string path;  // "owner/name" as the forge has it now
  std::string default_branch;
};

// What one page of a list is asked with.
struct ListQuery {
  std::string actor_name;
  std::string owner;
  std::uint64_t since_us = 0;  // 0: from the beginning
  unsigned page = 1;
};

class Dialect {
 public:
  Dialect() = default;
  virtual ~Dialect() = default;
  Dialect(const Dialect&) = delete;
  Dialect& operator=(const Dialect&) = delete;

  virtual std::vector<std::string> Headers(const std::string& token) const = 0;

  // Paths below the base of the API, with their queries.
  virtual std::string ActorPath() const { return "/user"; }
  virtual std::string RepositoryPathOf(const std::string& path) const = 0;
  virtual std::string CreatePath(const Request& request) const = 0;
  virtual std::string ListPath(const Request& request, const ListQuery& query) const = 0;
  virtual std::string ItemPath(const Effect& effect) const = 0;
  // Where names of labels become numbers; empty: names are sent. The path lacks the page.
  virtual std::string LabelPath(const Request& /*request*/) const { return {}; }
  virtual bool paged(const Request& /*request*/) const { return true; }
  // Of a row of a list whose rows come latest first: its time in that order. 0: the list has
  // another order, or the row does not say it.
  virtual std::uint64_t DescendingTime(const Request& /*request*/, const Json& /*row*/) const {
    return 0;
  }

  virtual Json CreateBody(const Request& request, const std::string& body,
                          const std::vector<std::uint64_t>& labels) const = 0;

  // Errors of all: kInvalid (not what the forge documents).
  virtual Result<Account> ReadActor(const Json& answer) const = 0;
  virtual Result<ForgeRepository> ReadRepository(const Json& answer) const = 0;
  // `number`: of what a comment was asked for on.
  virtual Result<Item> ReadItem(const std::string& kind, std::uint64_t number,
                                const Json& answer) const = 0;
  // Whether a row of a list is of that kind at all: GitHub lists pull requests among issues.
  virtual bool Belongs(const std::string& /*kind*/, const Json& /*row*/) const { return true; }
  // Whether a refusal says that such a pull request is there already.
  virtual bool SaysExists(unsigned status, const std::string& body) const = 0;
};

std::unique_ptr<Dialect> MakeGithub();
std::unique_ptr<Dialect> MakeGitlab();
std::unique_ptr<Dialect> MakeGitea();
// By its name. Null if there is none such.
std::unique_ptr<Dialect> MakeDialect(const std::string& transport);

// What all dialects read the same way.
Error BadAnswer(const std::string& what);
Result<std::string> TextOf(const Json& object, const char* name);      // kInvalid
Result<std::uint64_t> NumberOf(const Json& object, const char* name);  // kInvalid
// A text that may be null or missing.
std::string OptionalText(const Json& object, const char* name);
// A number as text; empty if it is missing or of another form.
std::string OptionalId(const Json& object, const char* name);
Result<const Json*> ObjectOf(const Json& object, const char* name);  // kInvalid
// "2026-11-30T09:00:00Z", with fractions or an offset, in microseconds. Errors: kInvalid.
Result<std::uint64_t> TimeOf(const Json& object, const char* name);
// "NAME=<time>&" for a query, or nothing if it asks for all times.
std::string SinceText(const std::string& name, const ListQuery& query);

}  // namespace maco::effect

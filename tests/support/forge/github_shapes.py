"""Rows as GitHub's REST API shows them."""
from __future__ import annotations

import base64
from typing import Any

from auth import LEVELS, level
from context import Context
from store import Row

REPO_LINKS = {
    "archive_url": "/{archive_format}{/ref}", "assignees_url": "/assignees{/user}",
    "blobs_url": "/git/blobs{/sha}", "branches_url": "/branches{/branch}",
    "collaborators_url": "/collaborators{/collaborator}", "comments_url": "/comments{/number}",
    "commits_url": "/commits{/sha}", "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}", "contributors_url": "/contributors",
    "deployments_url": "/deployments", "downloads_url": "/downloads", "events_url": "/events",
    "forks_url": "/forks", "git_commits_url": "/git/commits{/sha}", "git_refs_url": "/git/refs{/sha}",
    "git_tags_url": "/git/tags{/sha}", "hooks_url": "/hooks",
    "issue_comment_url": "/issues/comments{/number}", "issue_events_url": "/issues/events{/number}",
    "issues_url": "/issues{/number}", "keys_url": "/keys{/key_id}", "labels_url": "/labels{/name}",
    "languages_url": "/languages", "merges_url": "/merges", "milestones_url": "/milestones{/number}",
    "notifications_url": "/notifications{?since,all,participating}", "pulls_url": "/pulls{/number}",
    "releases_url": "/releases{/id}", "stargazers_url": "/stargazers", "statuses_url": "/statuses/{sha}",
    "subscribers_url": "/subscribers", "subscription_url": "/subscription", "tags_url": "/tags",
    "teams_url": "/teams", "trees_url": "/git/trees{/sha}",
}
USER_LINKS = {
    "followers_url": "/followers", "following_url": "/following{/other_user}", "gists_url": "/gists{/gist_id}",
    "starred_url": "/starred{/owner}{/repo}", "subscriptions_url": "/subscriptions",
    "organizations_url": "/orgs", "repos_url": "/repos", "events_url": "/events{/privacy}",
    "received_events_url": "/received_events",
}


def node_id(kind: str, number: int) -> str:
    return f"{kind}_{base64.urlsafe_b64encode(number.to_bytes(8, 'big')).decode().rstrip('=')}"


def user(ctx: Context, login: str | None) -> dict[str, Any] | None:
    row = ctx.store.user(login)
    if row is None:
        return None
    url = f"{ctx.api}/users/{login}"
    return {
        "login": login, "id": row["id"], "node_id": node_id("U", row["id"]),
        "avatar_url": f"{ctx.web}/avatars/{row['id']}", "gravatar_id": "", "url": url,
        "html_url": f"{ctx.web}/{login}", **{name: url + path for name, path in USER_LINKS.items()},
        "type": row["type"], "user_view_type": "public", "site_admin": row["site_admin"],
    }


def account(ctx: Context, row: Row) -> dict[str, Any]:
    return {
        **(user(ctx, row["login"]) or {}), "name": None, "company": None, "blog": "", "location": None,
        "email": None, "hireable": None, "bio": None, "twitter_username": None, "public_repos": 0,
        "public_gists": 0, "followers": 0, "following": 0, "created_at": row["created_at"],
        "updated_at": row["created_at"],
    }


def repo(ctx: Context, row: Row) -> dict[str, Any]:
    url, html = f"{ctx.api}/repos/{row['full_name']}", f"{ctx.web}/{row['full_name']}"
    rights = level(row, ctx.user)
    open_tickets = sum(1 for table in ("issue", "pull") for ticket in ctx.store.rows(table, row["id"])
                       if ticket["state"] == "open")
    return {
        "id": row["id"], "node_id": node_id("R", row["id"]), "name": row["name"],
        "full_name": row["full_name"], "private": row["private"], "owner": user(ctx, row["owner"]),
        "html_url": html, "description": None, "fork": False, "url": url,
        **{name: url + path for name, path in REPO_LINKS.items()},
        "created_at": row["created_at"], "updated_at": row["updated_at"], "pushed_at": row["updated_at"],
        "git_url": f"git://{html.partition('//')[2]}.git", "ssh_url": f"git@localhost:{row['full_name']}.git",
        "clone_url": f"{html}.git", "svn_url": html, "homepage": None, "size": 1, "stargazers_count": 0,
        "watchers_count": 0, "language": None, "has_issues": row["issues_enabled"], "has_projects": False,
        "has_downloads": True, "has_wiki": False, "has_pages": False, "has_discussions": False,
        "forks_count": 0, "mirror_url": None, "archived": row["archived"], "disabled": False,
        "open_issues_count": open_tickets, "license": None, "allow_forking": True, "is_template": False,
        "web_commit_signoff_required": False, "topics": [], "visibility": "private" if row["private"] else "public",
        "forks": 0, "open_issues": open_tickets, "watchers": 0, "default_branch": row["default_branch"],
        "permissions": {"admin": rights >= LEVELS["admin"], "maintain": rights >= LEVELS["admin"],
                        "push": rights >= LEVELS["write"], "triage": rights >= LEVELS["write"],
                        "pull": rights >= LEVELS["read"]},
    }


def full_repo(ctx: Context, row: Row) -> dict[str, Any]:
    return {**repo(ctx, row), "network_count": 0, "subscribers_count": 0}


def labels(ctx: Context, place: Row, ticket: Row) -> list[dict[str, Any]]:
    return [{"id": label["id"], "node_id": node_id("LA", label["id"]),
             "url": f"{ctx.api}/repos/{place['full_name']}/labels/{label['name']}", "name": label["name"],
             "color": label["color"], "default": False, "description": None}
            for name in ticket["labels"] for label in place["labels"] if label["name"] == name]


def association(place: Row, ctx: Context, login: str | None) -> str:
    author = ctx.store.user(login)
    if author and login == place["owner"]:
        return "OWNER"
    return "COLLABORATOR" if author and level(place, author) >= LEVELS["write"] else "NONE"


def comment_count(ctx: Context, ticket: Row) -> int:
    return sum(1 for row in ctx.store.rows("comment", ticket["repo_id"]) if row["ticket_id"] == ticket["id"])


def issue(ctx: Context, place: Row, row: Row) -> dict[str, Any]:
    """Of an issue, or of a pull among the issues."""
    is_pull = "head" in row
    root, html = f"{ctx.api}/repos/{place['full_name']}", f"{ctx.web}/{place['full_name']}"
    url = f"{root}/issues/{row['number']}"
    shape = {
        "url": url, "repository_url": root, "labels_url": f"{url}/labels{{/name}}",
        "comments_url": f"{url}/comments", "events_url": f"{url}/events",
        "html_url": f"{html}/{'pull' if is_pull else 'issues'}/{row['number']}",
        "id": row["issue_id"] if is_pull else row["id"],
        "node_id": node_id("PR" if is_pull else "I", row["id"]), "number": row["number"],
        "title": row["title"], "user": user(ctx, row["author"]), "labels": labels(ctx, place, row),
        "state": row["state"], "locked": False, "assignee": None, "assignees": [], "milestone": None,
        "comments": comment_count(ctx, row), "created_at": row["created_at"],
        "updated_at": row["updated_at"], "closed_at": row["closed_at"],
        "author_association": association(place, ctx, row["author"]), "active_lock_reason": None,
        "body": row["body"], "closed_by": user(ctx, row["closed_by"]), "timeline_url": f"{url}/timeline",
        "performed_via_github_app": None, "state_reason": None if is_pull else row["state_reason"],
    }
    if is_pull:
        pull_html = f"{html}/pull/{row['number']}"
        shape["draft"] = row["draft"]
        shape["pull_request"] = {
            "url": f"{root}/pulls/{row['number']}", "html_url": pull_html, "diff_url": f"{pull_html}.diff",
            "patch_url": f"{pull_html}.patch", "merged_at": row["merged_at"]}
    return shape


def comment(ctx: Context, place: Row, row: Row) -> dict[str, Any]:
    root = f"{ctx.api}/repos/{place['full_name']}/issues"
    ticket = ctx.store.tables["pull"].get(row["ticket_id"])
    kind = "pull" if ticket else "issues"
    return {
        "url": f"{root}/comments/{row['id']}",
        "html_url": f"{ctx.web}/{place['full_name']}/{kind}/{row['ticket_number']}#issuecomment-{row['id']}",
        "issue_url": f"{root}/{row['ticket_number']}", "id": row["id"], "node_id": node_id("IC", row["id"]),
        "user": user(ctx, row["author"]), "created_at": row["created_at"], "updated_at": row["updated_at"],
        "author_association": association(place, ctx, row["author"]), "body": row["body"],
        "performed_via_github_app": None,
    }


def head_sha(ctx: Context, place: Row, row: Row) -> str:
    """An open pull follows its branch; a closed one keeps what it had."""
    current = ctx.world.branches.oid(place, row["head"]) if row["state"] == "open" else None
    return current or row["head_sha"]


def _side(ctx: Context, place: Row, branch: str, sha: str) -> dict[str, Any]:
    return {"label": f"{place['owner']}:{branch}", "ref": branch, "sha": sha,
            "user": user(ctx, place["owner"]), "repo": repo(ctx, place)}


def pull_in_list(ctx: Context, place: Row, row: Row) -> dict[str, Any]:
    root, html = f"{ctx.api}/repos/{place['full_name']}", f"{ctx.web}/{place['full_name']}/pull/{row['number']}"
    url, issue_url, sha = f"{root}/pulls/{row['number']}", f"{root}/issues/{row['number']}", head_sha(ctx, place, row)
    links = {
        "self": url, "html": html, "issue": issue_url, "comments": f"{issue_url}/comments",
        "review_comments": f"{url}/comments", "review_comment": f"{root}/pulls/comments{{/number}}",
        "commits": f"{url}/commits", "statuses": f"{root}/statuses/{sha}"}
    return {
        "url": url, "id": row["id"], "node_id": node_id("PR", row["id"]), "html_url": html,
        "diff_url": f"{html}.diff", "patch_url": f"{html}.patch", "issue_url": issue_url,
        "number": row["number"], "state": row["state"], "locked": False, "title": row["title"],
        "user": user(ctx, row["author"]), "body": row["body"], "created_at": row["created_at"],
        "updated_at": row["updated_at"], "closed_at": row["closed_at"], "merged_at": row["merged_at"],
        "merge_commit_sha": row["merge_sha"], "assignee": None, "assignees": [],
        "requested_reviewers": [], "requested_teams": [], "labels": labels(ctx, place, row),
        "milestone": None, "draft": row["draft"], "commits_url": links["commits"],
        "review_comments_url": links["review_comments"], "review_comment_url": links["review_comment"],
        "comments_url": links["comments"], "statuses_url": links["statuses"],
        "head": _side(ctx, place, row["head"], sha), "base": _side(ctx, place, row["base"], row["base_sha"]),
        "_links": {name: {"href": target} for name, target in links.items()},
        "author_association": association(place, ctx, row["author"]), "auto_merge": None,
        "active_lock_reason": None,
    }


def pull(ctx: Context, place: Row, row: Row) -> dict[str, Any]:
    return {
        **pull_in_list(ctx, place, row), "merged": row["merged_at"] is not None,
        "mergeable": None if row["state"] != "open" else True, "rebaseable": None,
        "mergeable_state": "unknown" if row["state"] != "open" else "clean",
        "merged_by": user(ctx, row["merged_by"]), "comments": comment_count(ctx, row),
        "review_comments": 0, "maintainer_can_modify": False, "commits": 1, "additions": 1,
        "deletions": 0, "changed_files": 1,
    }

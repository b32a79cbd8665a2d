"""The double's faults: what is applied, what the client sees, and that a naive client is caught."""
from __future__ import annotations

import http.client
import json
import socket
import threading
from typing import Any, Callable

from forge_case import LOST, ForgeCase
from naive_client import post_with_retries

MARKER = "<!-- marker -->"


class Faults(ForgeCase):
    def setUp(self) -> None:
        super().setUp()
        self.issues = f"/repos/{self.name}/issues"
        self.asked = {"title": "t", "body": MARKER}

    def applied(self) -> int:
        return self.forge.count(kind="issue.create", repo=self.name, body=MARKER, by="request")

    def in_background(self, action: Callable[[], Any]) -> Callable[[], list[Any]]:
        """Starts it; the function returned joins and gives its result or its error."""
        results: list[Any] = []

        def run() -> None:
            try:
                results.append(action())
            except Exception as error:  # noqa: BLE001 (it is handed to the test)
                results.append(error)
        thread = threading.Thread(target=run)
        thread.start()

        def join() -> list[Any]:
            thread.join()
            return results
        return join

    def test_a_dropped_connection_before_or_after_applying(self) -> None:
        for kind, applied in (("drop_before", 0), ("reset_before", 0), ("drop_after", 1), ("reset_after", 2)):
            with self.subTest(kind):
                self.forge.fault(kind, path="/issues$")
                with self.assertRaises(LOST):
                    self.call("POST", self.issues, self.asked)
                self.assertEqual(self.applied(), applied)

    def test_a_naive_client_is_caught_duplicating(self) -> None:
        for kind, applied in (("drop_before", 1), ("drop_after", 2)):
            with self.subTest(kind):
                body = {"title": "t", "body": kind}
                self.forge.fault(kind, path="/issues$")
                post_with_retries(self.forge, self.issues, body, "tok-bob")
                self.assertEqual(self.forge.count(kind="issue.create", repo=self.name, body=kind), applied)

    def test_a_naive_client_is_caught_by_an_error_after_applying(self) -> None:
        self.forge.fault("status", path="/comments$", code=502, applied="after")
        number = self.created(self.issues, self.asked)["number"]
        post_with_retries(self.forge, f"{self.issues}/{number}/comments", {"body": MARKER}, "tok-bob")
        self.assertEqual(self.forge.count(kind="comment.create", repo=self.name, body=MARKER), 2)

    def test_a_status_before_applying_carries_headers_and_body(self) -> None:
        self.forge.fault("status", path="/issues$", code=503, headers={"Retry-After": "7"}, body="busy")
        answer = self.expect(503, "POST", self.issues, self.asked)
        self.assertEqual((answer.headers["Retry-After"], answer.body, self.applied()), ("7", b"busy", 0))

    def test_limits(self) -> None:
        self.forge.fault("secondary_limit", code=429, retry_after=3)
        self.forge.fault("primary_limit", reset_in=9)
        self.assertEqual(self.expect(429, "POST", self.issues, self.asked).headers["Retry-After"], "3")
        self.assertEqual(self.expect(403, "POST", self.issues, self.asked).headers["x-ratelimit-remaining"], "0")
        self.assertEqual(self.applied(), 0)

    def test_nth_and_times_choose_requests(self) -> None:
        self.forge.fault("status", path="/issues$", nth=2, times=2, code=500)
        statuses = [self.call("POST", self.issues, self.asked).status for _ in range(4)]
        self.assertEqual(statuses, [201, 500, 500, 201])

    def test_a_request_held_before_applying_survives_its_client(self) -> None:
        rule = self.forge.fault("stall_before", path="/issues$")
        join = self.in_background(lambda: self.call("POST", self.issues, self.asked))
        self.forge.wait(held=1, rule=rule)
        self.assertEqual(self.applied(), 0)
        self.assertEqual(self.forge.admin("release", rule=rule), {"released": 1})
        self.assertEqual((join()[0].status, self.applied()), (201, 1))

    def test_a_request_held_before_applying_can_be_lost_instead(self) -> None:
        rule = self.forge.fault("stall_before", path="/issues$")
        join = self.in_background(lambda: self.call("POST", self.issues, self.asked))
        self.forge.wait(held=1, rule=rule)
        self.forge.admin("release", rule=rule, outcome="drop")
        self.assertIsInstance(join()[0], LOST)
        self.assertEqual(self.applied(), 0)

    def test_a_client_that_goes_while_held_is_applied_all_the_same(self) -> None:
        for kind, before in (("stall_before", 0), ("stall_after", 2)):
            with self.subTest(kind):
                rule = self.forge.fault(kind, path="/issues$")
                body = json.dumps(self.asked)
                with socket.create_connection(("127.0.0.1", self.forge.port)) as client:
                    client.sendall((f"POST {self.issues} HTTP/1.1\r\nHost: x\r\nUser-Agent: x\r\nAuthorization: "
                                    f"Bearer tok-bob\r\nContent-Length: {len(body)}\r\n\r\n{body}").encode())
                    self.forge.wait(held=1, rule=rule)
                    self.assertEqual(self.applied(), before)
                self.forge.admin("release", rule=rule)
                self.forge.wait(idle=1)
                self.assertEqual(self.applied(), max(before, 1))

    def test_a_body_held_in_the_middle_has_been_applied(self) -> None:
        rule = self.forge.fault("stall_body", path="/issues$")
        join = self.in_background(lambda: self.call("POST", self.issues, self.asked))
        self.forge.wait(held=1, rule=rule)
        self.assertEqual(self.applied(), 1)
        self.forge.admin("release")
        self.assertEqual(join()[0].status, 201)

    def test_answers_that_cannot_be_read(self) -> None:
        self.forge.fault("truncated", path="/issues$")
        with self.assertRaises(ValueError):
            _ = self.call("POST", self.issues, self.asked).json
        self.forge.fault("truncated", path="/issues$", length="full")
        with self.assertRaises(http.client.IncompleteRead):
            self.call("POST", self.issues, self.asked)
        self.forge.fault("content_type", path="/issues$", type="text/html", body="<html>")
        answer = self.expect(201, "POST", self.issues, self.asked)
        self.assertEqual((answer.headers["Content-Type"], answer.body), ("text/html", b"<html>"))
        self.forge.fault("oversized", path="/issues$", bytes=1 << 20)
        self.assertGreater(len(self.expect(201, "POST", self.issues, self.asked).body), 1 << 20)
        self.forge.fault("slow_body", path="/issues$", bytes=400, ms=1)
        self.assertEqual(self.expect(201, "POST", self.issues, self.asked).json["body"], MARKER)
        self.assertEqual(self.applied(), 5)

    def test_a_new_row_is_missing_from_lists_until_it_shows(self) -> None:
        self.forge.fault("hide", path="/issues$", requests=2)
        number = self.created(self.issues, self.asked)["number"]
        self.assertEqual(self.got(f"{self.issues}/{number}")["number"], number)
        self.assertEqual([len(self.got(f"{self.issues}?state=all")) for _ in range(3)], [0, 0, 1])

    def test_a_row_may_be_hidden_by_number_too_until_a_time_or_until_shown(self) -> None:
        self.forge.fault("hide", path="/issues$", by_id=False, ms=60_000)
        number = self.created(self.issues, self.asked)["number"]
        self.expect(404, "GET", f"{self.issues}/{number}")
        self.forge.admin("clock", advance=61)
        self.expect(200, "GET", f"{self.issues}/{number}")
        self.forge.admin("hide", kind="issue", repo=self.name, number=number)
        self.assertEqual([self.got(self.issues), self.got(self.issues)], [[], []])
        self.forge.admin("show")
        self.assertEqual(len(self.got(self.issues)), 1)

    def test_a_hidden_pull_still_counts_as_a_duplicate(self) -> None:
        asked = {"title": "t", "head": "fx/one", "base": "main"}
        self.forge.fault("hide", path="/pulls$")
        self.created(f"/repos/{self.name}/pulls", asked)
        self.assertEqual(self.got(f"/repos/{self.name}/pulls?state=all"), [])
        self.expect(422, "POST", f"/repos/{self.name}/pulls", asked)

    def test_a_page_may_miss_rows(self) -> None:
        first, second = (self.created(self.issues, self.asked)["number"] for _ in range(2))
        self.forge.fault("partial_page", method="GET", path="/issues", rows=[0])
        self.forge.fault("partial_page", method="GET", path="/issues", numbers=[first])
        self.assertEqual([row["number"] for row in self.got(self.issues)], [first])
        self.assertEqual([row["number"] for row in self.got(self.issues)], [second])
        self.assertEqual(len(self.got(self.issues)), 2)

    def test_connections_and_tokens_are_visible_in_the_log(self) -> None:
        connection = self.forge.connect()
        self.addCleanup(connection.close)
        for _ in range(2):
            connection.request("GET", f"/repos/{self.name}", headers={
                "User-Agent": "x", "Authorization": "Bearer tok-bob"})
            connection.getresponse().read()
        self.call("GET", f"/repos/{self.name}")
        lines = self.forge.log("requests.jsonl")[-3:]
        self.assertEqual([line["on_connection"] for line in lines], [1, 2, 1])
        self.assertEqual(lines[0]["connection"], lines[1]["connection"])
        self.assertNotEqual(lines[1]["connection"], lines[2]["connection"])
        self.assertIn(["Authorization", "Bearer tok-bob"], lines[0]["headers"])

    def test_a_rule_that_cannot_be_meant_is_refused(self) -> None:
        for rule in ({"fault": {"kind": "none"}}, {"fault": {"kind": "hide"}, "match": {"verb": "GET"}}, {}):
            self.assertEqual(self.forge.call("POST", "/__faults", rule).status, 400)

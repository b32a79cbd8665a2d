"""What the tests of git maco effect with a forge share: one world for each dialect, a repository of its own for each test."""
from __future__ import annotations

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "crash"))
from effect_world import COMPLETED, DIALECTS, Done, World  # noqa: E402

BODY = "Some text\n\nand more"


class EffectCase(unittest.TestCase):
    """Run once for each dialect."""

    dialect = ""
    programs = Path()  # from the command line
    world: World

    @classmethod
    def setUpClass(cls) -> None:
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.world = World(Path(scratch.name).resolve(), cls.programs)
        cls.addClassCleanup(lambda: cls.world.stop())

    def setUp(self) -> None:
        self.repo = self.world.repository(self.dialect)

    def tearDown(self) -> None:
        self.world.forge.admin("release")
        self.world.forge.call("DELETE", "/__faults")

    def told(self, done: Done, status: int, *words: str) -> Done:
        self.assertEqual(done.status, status, done)
        for word in words:
            self.assertIn(word, done.out + done.err)
        self.assertNotIn("secret", done.out + done.err)
        return done

    def marked(self, operation: str, *more: str) -> dict[str, Any]:
        """The request as the dry run has it."""
        done = self.told(self.repo.run(*self.repo.command(operation, *more, "-n", "--json")), COMPLETED)
        return dict(done.json["request"])

    def body_of(self, operation: str, *more: str) -> str:
        body = self.marked(operation, *more)["body"]
        return str(body.get("body", body.get("description")))

    def insert(self, operation: str, body: str, login: str, count: int = 1) -> Any:
        fields = {"body": body} if operation == "comment" else {"title": "A title", "body": body}
        if operation == "pr":
            fields |= {"head": "fx/one", "base": "main"}
        kind = "pull" if operation == "pr" else operation
        number = {"number": 1} if operation == "comment" else {}
        return self.repo.forge.admin("insert", repo=self.repo.name, kind=kind, count=count, fields=fields,
                                     **{"as": login}, **number)

    def change(self, how: str, operation: str, **value: Any) -> None:
        row = self.repo.rows(operation)[0]
        self.repo.forge.admin(how, kind="pull" if operation == "pr" else operation, id=row["id"], **value)

    def verdict(self, status: int, word: str, *words: str) -> None:
        done = self.told(self.repo.run("verify", "--json"), status)
        one, = done.json["effects"]
        self.assertEqual(one["verdict"], word, one)
        for text in words:
            self.assertIn(text, one["words"])


def run_dialect(case: type[EffectCase], programs: Path, dialect: str, names: list[str]) -> bool:
    made = type(f"{dialect.title()}Tests", (case,), {"dialect": dialect, "programs": programs})
    wanted = [name for name in unittest.defaultTestLoader.getTestCaseNames(made)
              if not names or any(text in name for text in names)]
    return unittest.TextTestRunner(verbosity=1).run(unittest.TestSuite(made(name) for name in wanted)).wasSuccessful()


def run_all(file: str, programs: str, names: list[str]) -> bool:
    """Each dialect in a process of its own, all at a time: most of it is waiting."""
    runs = {dialect: subprocess.Popen([sys.executable, file, programs, "--dialect", dialect, *names],
                                      stderr=subprocess.PIPE, text=True) for dialect in DIALECTS}
    for number, (dialect, run) in enumerate(runs.items(), 1):
        said = run.communicate()[1]
        if run.returncode:
            print("".join(f"# {line}\n" for line in said.splitlines()), end="")
        print(f"{'not ok' if run.returncode else 'ok'} {number} - {dialect}: {said.strip().splitlines()[-3]}")
    print(f"1..{len(runs)}")
    return not any(run.returncode for run in runs.values())


def main(case: type[EffectCase], file: str) -> int:
    """usage: FILE PROGRAMS [PART OF A TEST'S NAME]..."""
    if sys.argv[2:3] == ["--dialect"]:
        return int(not run_dialect(case, Path(sys.argv[1]).resolve(), sys.argv[3], sys.argv[4:]))
    return int(not run_all(file, sys.argv[1], sys.argv[2:]))

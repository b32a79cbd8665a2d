#!/usr/bin/env python3
# Each check finds what it is for: a small bad tree must fail with the right words, a good one pass.
# Usage: self_test.py CHECK (arrows, names, mechanisms, help, format)
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
DUTY = "// A file of a test tree, for a check.\n"
HEADER = DUTY + "#pragma once\n"

GOOD = {
    "libcommon/CMakeLists.txt": "# libcommon of a test tree.\nmaco_library(maco_base SOURCES a.cc)\n"
                                "maco_library(maco_os SOURCES b.cc LINK maco_base)\n",
    "libcommon/base/error.h": HEADER,
    "libcommon/os/fd.h": HEADER + '#include "libcommon/base/error.h"\n',
    "libcommon/os/fd.cc": DUTY + '#include "libcommon/os/fd.h"\nint a = fsync(3);\n',
    "libcommon/auth/mac.cc": DUTY + "#include <nettle/hmac.h>\nhmac_sha256_ctx m;\n",
    "maco-run/main.cc": DUTY + '// fsync(2) and rename(2) are not here.\n'
                               '#include "libcommon/os/fd.h"\nconst char* b = "system(3) \\" git";\n',
    "maco-run/guardian/target.cc": DUTY + "void c() { execve(0, 0, 0); }\n",
    "tests/unit/a_test.cc": DUTY + '#include "tests/unit/b.h"\nint d = rename("a", "b");\n',
    "scripts/build.sh": "#!/bin/sh\n# Builds the test tree, for a check.\n",
}

# Check -> (what is wrong, files that differ from the good tree, words that must be printed).
BAD = {
    "arrows": [
        ("upward include", {"libcommon/base/error.h": HEADER + '#include "libcommon/os/fd.h"\n'},
         "libcommon/base/error.h:3: libcommon/base may not include libcommon/os"),
        ("store beside git", {"libcommon/store/a.h": HEADER + '#include "libcommon/git/b.h"\n'},
         "libcommon/store may not include libcommon/git"),
        ("unknown layer", {"libcommon/new/a.h": HEADER + '#include "libcommon/base/error.h"\n'},
         "a layer of libcommon without a rule"),
        ("tool to tool", {"maco-prune/a.cc": DUTY + '#include "maco-run/run.h"\n'},
         "'maco-prune' may not include 'maco-run'"),
        ("library to tool", {"libcommon/os/fd.h": HEADER + '#include "git-maco/dispatch.h"\n'},
         "'libcommon' may not include 'git-maco'"),
        ("test header", {"maco-run/main.cc": DUTY + '#include "tests/unit/b.h"\n'},
         "nothing includes tests/"),
        ("nettle twice", {"maco-run/a.cc": DUTY + "#include <nettle/sha2.h>\n"},
         "nettle is in libcommon/auth/mac.cc already"),
        ("header with nettle", {"libcommon/auth/mac.cc": DUTY,
                                 "libcommon/auth/mac.h": HEADER + "#include <nettle/hmac.h>\n"},
         "libcommon/auth/mac.h:3: nettle in a header"),
        ("nlohmann elsewhere", {"maco-run/a.cc": DUTY + "#include <nlohmann/json.hpp>\n"},
         "nlohmann is included in libcommon/auth/json.h only"),
        ("cxxopts twice in a tool", {"maco-run/a.cc": DUTY + "#include <cxxopts.hpp>\n",
                                     "maco-run/b.cc": DUTY + "#include <cxxopts.hpp>\n"},
         "cxxopts is in maco-run/a.cc already"),
        ("libgit2 elsewhere", {"maco-run/a.cc": DUTY + "#include <git2.h>\n"},
         "libgit2 is included in libcommon/git only"),
        ("upward link", {"libcommon/CMakeLists.txt":
                         "# libcommon of a test tree.\nmaco_library(maco_os SOURCES b.cc)\n"
                         "maco_library(maco_base SOURCES a.cc LINK maco_os)\n"},
         "'maco_base' may not link 'maco_os'"),
        ("tool links tool", {"maco-run/CMakeLists.txt": "# A tool.\nmaco_library(run SOURCES a.cc)\n",
                             "maco-prune/CMakeLists.txt":
                             "# Another tool.\nmaco_program(prune SOURCES a.cc LINK run)\n"},
         "'prune' may not link 'run' of maco-run"),
    ],
    "names": [
        ("utils", {"libcommon/os/fd_utils.h": HEADER}, "'fd_utils.h' says nothing"),
        ("misc folder", {"maco-run/misc/a.h": HEADER}, "'misc' says nothing"),
        ("helpers", {"tests/helpers.py": "# Things for tests, of all kinds.\n"}, "'helpers.py'"),
        ("part2", {"maco-run/run-part2.cc": DUTY}, "'run-part2.cc' says nothing"),
        ("no duty", {"maco-run/main.cc": '#include "libcommon/os/fd.h"\n'},
         "maco-run/main.cc: the first line is not '// ' and the file's duty"),
        ("guard", {"libcommon/os/fd.h": DUTY + "#ifndef FD_H\n#define FD_H\n#endif\n"},
         "is not '#pragma once'"),
        ("script", {"scripts/build.sh": "#!/bin/sh\nset -e\n\n# Builds the test tree.\n"},
         "scripts/build.sh: the first three lines"),
        ("script without a suffix", {"scripts/vm": "#!/bin/sh\nset -e\n"}, "scripts/vm: the first"),
        ("cmake", {"libcommon/CMakeLists.txt": "maco_library(a SOURCES a.cc)\n"},
         "libcommon/CMakeLists.txt: the first three lines"),
    ],
    "mechanisms": [
        ("fsync", {"maco-run/main.cc": DUTY + "int a = ::fsync(3);\n"},
         "maco-run/main.cc:2: a flush to disk"),
        ("fdatasync by number", {"maco-run/main.cc": DUTY + "int a = syscall(SYS_fdatasync, 3);\n"},
         "a flush to disk"),
        ("rename", {"libcommon/log/a.cc": DUTY + "int a = renameat2(1, b, 1, c, 0);\n"}, "a rename"),
        ("std rename", {"maco-run/main.cc": DUTY + "std::filesystem::rename(a, b);\n"}, "a rename"),
        ("lock", {"maco-run/main.cc": DUTY + "int a = fcntl(3, F_OFD_SETLK, &b);\n"}, "a file lock"),
        ("flock", {"maco-run/main.cc": DUTY + "int a = flock(3, 2);\n"}, "a file lock"),
        ("HMAC", {"maco-run/main.cc": DUTY + "auto a = EVP_MAC_init(b);\n"}, "cryptography"),
        ("framing", {"maco-run/main.cc": DUTY + '#include "libcommon/log/log_codec.h"\n'},
         "the framing of records"),
        ("spawn", {"maco-run/main.cc": DUTY + "int a = posix_spawn(b, c, 0, 0, 0, 0);\n"},
         "a program started"),
        ("system", {"libcommon/os/fd.h": HEADER + 'inline int a() { return system("x"); }\n'},
         "a program started"),
        ("exec", {"maco-run/main.cc": DUTY + "int a = execvp(b, c);\n"}, "a program executed"),
        ("fork", {"maco-run/main.cc": DUTY + "int a = fork();\n"}, "a process forked"),
        ("git", {"maco-run/main.cc": DUTY + 'const char* a = "/usr/bin/git";\n'},
         "git looked up or executed"),
    ],
    "format": [
        ("blanks", {"maco-run/main.cc": DUTY + "int  a=1;\n"}, "maco-run/main.cc: not formatted"),
    ],
}

PAGE = (".TH T 1\n.SH NAME\nt\n.SH SYNOPSIS\n.nf\nmaco\\-run [\\-\\-a \\fIN\\fR]\n     \\-\\- B\n"
        "maco\\-run \\-h\n.fi\n.SH DESCRIPTION\nmaco-run is not this.\n")
PROGRAM = '#!/bin/sh\nprintf "usage: maco-run [--a N] --\\n  B\\n       maco-run -h\\n\\n  more\\n"\n'
HELP_GOOD = {"docs/man/maco-run.1": PAGE, "docs/man/git-maco-run.1": ".so man1/maco-run.1\n",
             "bin/maco-run": PROGRAM}
HELP_BAD = [
    ("another option", {"bin/maco-run": PROGRAM.replace("--a N", "--b N")}, "differ"),
    ("one way less", {"docs/man/maco-run.1": PAGE.replace("maco\\-run \\-h\n", "")}, "differ"),
    ("no page", {"docs/man/git-maco-run.1": None}, "docs/man/git-maco-run.1 is missing"),
    ("a link to nothing", {"docs/man/git-maco-run.1": ".so man1/none.1\n"}, "is missing"),
    ("no usage", {"bin/maco-run": "#!/bin/sh\nexit 1\n"}, "-h prints no usage"),
    ("no synopsis", {"docs/man/maco-run.1": ".SH NAME\nt\n"}, "differ"),
    ("nothing built", {"bin/maco-run": None, "bin/maco-guardian": PROGRAM}, "no programs"),
]


def make_tree(root, files):
    for path, text in files.items():
        if text is None:
            continue
        full = os.path.join(root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(full, 0o755)


def run(check, files):
    """Status and output of the check on a tree of these files."""
    with tempfile.TemporaryDirectory() as root:
        make_tree(root, files)
        command = [sys.executable, os.path.join(HERE, f"check_{check}.py"), root]
        if check == "help":
            command.append(os.path.join(root, "bin"))
        if check == "format":
            make_tree(root, {".clang-format": "BasedOnStyle: Google\n"})
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr


def main(check):
    good, bad = (HELP_GOOD, HELP_BAD) if check == "help" else (GOOD, BAD[check])
    failed = 0
    status, output = run(check, good)
    if status != 0:
        failed += 1
        print(f"not ok - {check}: the good tree\n{output}")
    for what, files, words in bad:
        status, output = run(check, {**good, **files})
        if status != 1 or words not in output:
            failed += 1
            print(f"not ok - {check}: {what}: status {status}, without '{words}'\n{output}")
        else:
            print(f"ok - {check}: {what}")
    sys.exit(1 if failed else 0)


main(sys.argv[1])

// Files without a name, held in every way that hides them: counted, or known not to be all.
// Contract under test: maco-run/supervise/nameless_files.h. Requirement RUN-14.
#include "maco-run/supervise/nameless_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <functional>

#include "libcommon/base/text.h"
#include "libcommon/os/fd.h"
#include "tests/unit/scratch_dir.h"

namespace maco::run {
namespace {

constexpr std::size_t kBytes = 1UL << 20U;
std::string place;  // where the children make their files; it outlives them
int ready = -1;     // where a child tells that it holds what it should

// What a child does when it holds everything.
[[noreturn]] void Hold() {
  [[maybe_unused]] const auto told = write(ready, "r", 1);
  for (;;) {
    pause();
  }
}

int MakeNameless(const std::string& name = "f") {
  const std::string path = place + "/" + name;
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const std::string text(kBytes, 'x');
  if (fd < 0 || write(fd, text.data(), text.size()) != static_cast<ssize_t>(kBytes)) {
    _exit(1);
  }
  unlink(path.c_str());
  return fd;
}

void MapOnly(int fd, std::size_t size) {
  if (mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED) {
    _exit(1);
  }
  close(fd);
}

void* HoldInThread(void* own_table) {
  if (own_table != nullptr && unshare(CLONE_FILES) != 0) {
    _exit(1);
  }
  MakeNameless();
  Hold();
}

class NamelessFilesTest : public testing::Test {
 protected:
  NamelessFilesTest() { place = scratch_.path(); }

  // The sight of a child that does this, and what it says of it.
  NamelessFiles Look(const std::function<void()>& child_does) {
    auto pipe = *MakePipe();
    const pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      ready = pipe.write_end.get();
      child_does();
      Hold();
    }
    pipe.write_end.Reset();
    char byte = 0;
    EXPECT_EQ(read(pipe.read_end.get(), &byte, 1), 1) << "the child failed";
    NamelessFiles files({scratch_.dir().Identity()->device}, {});
    EXPECT_TRUE(files.Add({child}, [] { return true; }));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    return files;
  }

  ScratchDir scratch_;
};

TEST_F(NamelessFilesTest, AProcessWithoutAnyHidesNothing) {
  const auto files = Look([] {});
  EXPECT_TRUE(files.whole());
  EXPECT_EQ(files.bytes(), 0U);
}

TEST_F(NamelessFilesTest, AnOpenOneCounts) {
  const auto files = Look([] { MakeNameless(); });
  EXPECT_TRUE(files.whole());
  EXPECT_GE(files.bytes(), kBytes);
}

TEST_F(NamelessFilesTest, MemoryFilesAreNotMeant) {
  const auto files = Look([] {
    const int fd = memfd_create("m", MFD_CLOEXEC);
    if (ftruncate(fd, 4096) != 0) {
      _exit(1);
    }
    MapOnly(fd, 4096);
    memfd_create("open", MFD_CLOEXEC);
    mmap(nullptr, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  });
  EXPECT_TRUE(files.whole());
  EXPECT_EQ(files.bytes(), 0U);
}

TEST_F(NamelessFilesTest, OneThatIsOnlyMappedHasNoKnownSize) {
  EXPECT_FALSE(Look([] { MapOnly(MakeNameless(), 4096); }).whole());
}

TEST_F(NamelessFilesTest, ANameDoesNotMakeAMemoryFile) {
  std::filesystem::create_directory(scratch_.Path("a "));
  EXPECT_FALSE(Look([] { MapOnly(MakeNameless("a /memfd:x"), kBytes); }).whole());
}

TEST_F(NamelessFilesTest, ThreadsCanHaveTablesOfTheirOwn) {
  const auto files = Look([] {
    pthread_t thread{};
    char own_table = 1;
    pthread_create(&thread, nullptr, HoldInThread, &own_table);
    pthread_join(thread, nullptr);
  });
  EXPECT_GE(files.bytes(), kBytes);
}

TEST_F(NamelessFilesTest, AThreadOutlivesItsLeader) {
  const auto files = Look([] {
    pthread_t thread{};
    pthread_create(&thread, nullptr, HoldInThread, nullptr);
    // As pthread_exit, without unwinding into the test.
    syscall(SYS_exit, 0);
  });
  EXPECT_GE(files.bytes(), kBytes);
}

TEST_F(NamelessFilesTest, DescriptorsInASocketHideWhatTheyAre) {
  const auto files = Look([] {
    const int fd = MakeNameless();
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      _exit(1);
    }
    char byte = 'x';
    iovec data{&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof fd)] = {};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* const head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(head), &fd, sizeof fd);
    if (sendmsg(ends[0], &message, 0) < 0) {
      _exit(1);
    }
    close(fd);
  });
  EXPECT_FALSE(files.whole());
}

TEST_F(NamelessFilesTest, ASocketThatHoldsNothingHidesNothing) {
  EXPECT_TRUE(Look([] {
                int ends[2];
                if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
                  _exit(1);
                }
              }).whole());
}

TEST_F(NamelessFilesTest, AnApartFileSystemIsNotMeant) {
  NamelessFiles files({}, {scratch_.dir().Identity()->device});
  const UniqueFd fd(MakeNameless());
  EXPECT_TRUE(files.Add({getpid()}, [] { return true; }));
  EXPECT_EQ(files.bytes(), 0U);
}

TEST_F(NamelessFilesTest, ALongLookCanBeBrokenOff) {
  std::vector<UniqueFd> many;
  for (int i = 0; i < 300; ++i) {
    many.emplace_back(open("/dev/null", O_RDONLY | O_CLOEXEC));
  }
  NamelessFiles files({}, {});
  EXPECT_FALSE(files.Add({getpid()}, [] { return false; }));
}

}  // namespace
}  // namespace maco::run

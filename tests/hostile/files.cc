// Leaves something behind in the file system that outlives or outranks it: links, nodes, set-ID
// files, changes of files that it was not granted. Parameters: dir= a directory for new names,
// file= a file there, target= a file outside, outside= a directory outside. Frame:
// tests/hostile/attempt.h.
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "tests/hostile/attempt.h"

namespace {

using hostile::CloseAfter;
using hostile::Outcome;
using hostile::Parameter;
using hostile::WriteTo;

std::string New() { return Parameter("dir") + "/hostile-new"; }

// The call, and its new name removed.
int Undone(long result) {
  const int outcome = Outcome(result);
  unlink(New().c_str());
  return outcome;
}

int LinkByDescriptor() {
  const int fd = open(Parameter("file").c_str(), O_RDONLY | O_CLOEXEC);
  const std::string name = "/proc/self/fd/" + std::to_string(fd);
  const int result =
      Undone(linkat(AT_FDCWD, name.c_str(), AT_FDCWD, New().c_str(), AT_SYMLINK_FOLLOW));
  close(fd);
  return result;
}

int LinkTemporary() {
  const int fd = open(Parameter("dir").c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) {
    return errno;
  }
  const std::string name = "/proc/self/fd/" + std::to_string(fd);
  const int result =
      Undone(linkat(AT_FDCWD, name.c_str(), AT_FDCWD, New().c_str(), AT_SYMLINK_FOLLOW));
  close(fd);
  return result;
}

int Node(mode_t mode, dev_t device, bool old) {
  return Undone(old ? syscall(SYS_mknod, New().c_str(), mode, device)
                    : syscall(SYS_mknodat, AT_FDCWD, New().c_str(), mode, device));
}

int Whiteout() {
  close(open(New().c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  const std::string other = New() + "-2";
  const int result = Outcome(
      syscall(SYS_renameat2, AT_FDCWD, New().c_str(), AT_FDCWD, other.c_str(), RENAME_WHITEOUT));
  unlink(New().c_str());
  unlink(other.c_str());
  return result;
}

// Whether the file now has the bit: a kernel may take it away in silence.
int SetId(mode_t bit, const std::function<long(const char*, int, mode_t)>& call) {
  const int fd = open(New().c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0) {
    return errno;
  }
  int result = Outcome(call(New().c_str(), fd, bit | 0700U));
  struct stat st {};
  fstat(fd, &st);
  if (result == 0 && (st.st_mode & bit) == 0) {
    result = hostile::kIgnored;
  }
  close(fd);
  unlink(New().c_str());
  return result;
}

int CreateSetId(const std::function<long(const char*)>& call) {
  const long fd = call(New().c_str());
  int result = Outcome(fd);
  struct stat st {};
  if (result == 0 && (stat(New().c_str(), &st) != 0 || (st.st_mode & S_ISUID) == 0)) {
    result = hostile::kIgnored;
  }
  if (fd > 0) {
    close(static_cast<int>(fd));
  }
  unlink(New().c_str());
  return result;
}

int OpenHow() {
  struct {
    std::uint64_t flags, mode, resolve;
  } how{O_CREAT | O_WRONLY, S_ISUID | 0700U, 0};
  return CreateSetId(
      [&](const char* name) { return syscall(SYS_openat2, AT_FDCWD, name, &how, sizeof how); });
}

// By a symbolic link in a place of its own.
int WriteByLink() {
  unlink(New().c_str());
  if (symlink(Parameter("target").c_str(), New().c_str()) != 0) {
    return errno;
  }
  const int result = WriteTo(New());
  unlink(New().c_str());
  return result;
}

int RenameOver() {
  close(open(New().c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  const int result = Outcome(rename(New().c_str(), (Parameter("target") + ".new").c_str()));
  unlink(New().c_str());
  unlink((Parameter("target") + ".new").c_str());
  return result;
}

int RenameAway() {
  const std::string target = Parameter("target");
  const int result = Outcome(rename(target.c_str(), New().c_str()));
  if (result == 0) {
    rename(New().c_str(), target.c_str());
  }
  return result;
}

int OnTarget(long (*call)(const char*)) { return Outcome(call(Parameter("target").c_str())); }

int MakeOutside() {
  const std::string name = Parameter("outside") + "/hostile-made";
  const int result = CloseAfter(open(name.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0600));
  unlink(name.c_str());
  return result;
}

int MakeDirectoryOutside() {
  const std::string name = Parameter("outside") + "/hostile-made";
  const int result = Outcome(mkdir(name.c_str(), 0700));
  rmdir(name.c_str());
  return result;
}

int Remove() {
  const std::string name = Parameter("target") + ".victim";
  return Outcome(unlink(name.c_str()));
}

}  // namespace

int main(int argc, char** argv) {
  constexpr mode_t kSetUid = S_ISUID;
  constexpr mode_t kSetGid = S_ISGID;
  return hostile::RunAttempts(
      argc, argv,
      {
          {"link",
           [] { return Undone(syscall(SYS_link, Parameter("file").c_str(), New().c_str())); }},
          {"linkat",
           [] {
             return Undone(linkat(AT_FDCWD, Parameter("file").c_str(), AT_FDCWD, New().c_str(), 0));
           }},
          {"link-by-descriptor", LinkByDescriptor},
          {"link-temporary", LinkTemporary},
          {"mkfifo", [] { return Node(S_IFIFO | 0600U, 0, false); }},
          {"mkfifo-old", [] { return Node(S_IFIFO | 0600U, 0, true); }},
          {"mknod-socket", [] { return Node(S_IFSOCK | 0600U, 0, false); }},
          {"mknod-socket-old", [] { return Node(S_IFSOCK | 0600U, 0, true); }},
          {"mknod-whiteout", [] { return Node(S_IFCHR | 0600U, 0, false); }},
          {"rename-whiteout", Whiteout},
          {"mknod-null", [] { return Node(S_IFCHR | 0600U, makedev(1, 3), false); }},
          {"mknod-disk", [] { return Node(S_IFBLK | 0600U, makedev(7, 0), true); }},
          {"setuid-chmod",
           [] {
             return SetId(kSetUid, [](const char* name, int, mode_t mode) {
               return syscall(SYS_chmod, name, mode);
             });
           }},
          {"setuid-fchmod",
           [] {
             return SetId(kSetUid,
                          [](const char*, int fd, mode_t mode) { return long{fchmod(fd, mode)}; });
           }},
          {"setuid-fchmodat",
           [] {
             return SetId(kSetUid, [](const char* name, int, mode_t mode) {
               return syscall(SYS_fchmodat, AT_FDCWD, name, mode);
             });
           }},
          {"setgid-fchmod",
           [] {
             return SetId(kSetGid,
                          [](const char*, int fd, mode_t mode) { return long{fchmod(fd, mode)}; });
           }},
          {"setgid-chmod",
           [] {
             return SetId(kSetGid, [](const char* name, int, mode_t mode) {
               return syscall(SYS_chmod, name, mode);
             });
           }},
          {"setuid-openat",
           [] {
             return CreateSetId([](const char* name) {
               return syscall(SYS_openat, AT_FDCWD, name, O_CREAT | O_WRONLY, S_ISUID | 0700U);
             });
           }},
          {"setuid-open",
           [] {
             return CreateSetId([](const char* name) {
               return syscall(SYS_open, name, O_CREAT | O_WRONLY, S_ISUID | 0700U);
             });
           }},
          {"setuid-creat",
           [] {
             return CreateSetId(
                 [](const char* name) { return syscall(SYS_creat, name, S_ISUID | 0700U); });
           }},
          {"setuid-openat2", OpenHow},
          {"setuid-mknod",
           [] {
             return CreateSetId([](const char* name) {
               return syscall(SYS_mknod, name, S_IFREG | S_ISUID | 0700U, 0);
             });
           }},
          {"setuid-mknodat",
           [] {
             return CreateSetId([](const char* name) {
               return syscall(SYS_mknodat, AT_FDCWD, name, S_IFREG | S_ISUID | 0700U, 0);
             });
           }},
          {"write", [] { return WriteTo(Parameter("target")); }},
          {"write-by-link", WriteByLink},
          {"truncate",
           [] { return OnTarget([](const char* name) { return long{truncate(name, 1 << 20)}; }); }},
          {"chmod",
           [] { return OnTarget([](const char* name) { return long{chmod(name, 0666)}; }); }},
          {"touch",
           [] {
             return OnTarget(
                 [](const char* name) { return long{utimensat(AT_FDCWD, name, nullptr, 0)}; });
           }},
          {"chown",
           [] {
             return OnTarget(
                 [](const char* name) { return long{chown(name, getuid(), getgid())}; });
           }},
          {"rename-over", RenameOver},
          {"rename-away", RenameAway},
          {"make-file", MakeOutside},
          {"make-directory", MakeDirectoryOutside},
          {"remove", Remove},
      });
}

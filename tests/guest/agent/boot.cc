// First process of the guest: turns the initial RAM disk into a root directory and starts systemd.
//
// The RAM disk holds this program (/init), a few configuration files (/seed) and the kernel modules
// that are needed to reach the host's files (/modules). The guest's root directory is an overlay:
//     /layers/upper   tmpfs, takes every write
//     /seed           our configuration
//     /host           the host's own root directory, read only
#include "agent.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace guest {
namespace {

const std::string kUpper = "/layers/upper";
const std::string kRoot = "/layers/root";

void MustMount(const std::string& source, const std::string& target, const char* type,
               unsigned long flags = 0, const std::string& options = "") {
  if (mount(source.c_str(), target.c_str(), type, flags, options.c_str()))
    Die("mount " + source + " on " + target);
}

void MakeDir(const std::string& path, mode_t mode = 0755) {
  if (mkdir(path.c_str(), mode) && errno != EEXIST) Die("mkdir " + path);
  if (mode != 0755 && chmod(path.c_str(), mode)) Die("chmod " + path);
}

// Every directory above PATH, which must lie below BASE.
std::vector<std::string> Parents(const std::string& base, const std::string& path) {
  std::vector<std::string> result;
  for (size_t slash = path.find('/', base.size() + 1); slash != std::string::npos;
       slash = path.find('/', slash + 1))
    result.push_back(path.substr(0, slash));
  return result;
}

void WriteFile(const std::string& path, std::string_view content) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0 || write(fd, content.data(), content.size()) < 0) Complain("write " + path);
  close(fd);
}

void LoadModule(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) && errno != EEXIST)) Complain("load " + path);
  close(fd);
}

// The file names start with a number that gives the order.
void LoadModules(const std::string& directory) {
  std::vector<std::string> names;
  DIR* dir = opendir(directory.c_str());
  if (!dir) return;
  while (const dirent* entry = readdir(dir))
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  closedir(dir);
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) LoadModule(directory + "/" + name);
}

// The host's directory PATH at TARGET.
void MountHostDir(const std::string& path, const std::string& target, bool read_only) {
  if (CurrentEngine() == Engine::kUml) {
    MustMount("host", target, "hostfs", read_only ? MS_RDONLY : 0, path);
    return;
  }
  MustMount("/host" + path, target, nullptr, MS_BIND);
  if (read_only) MustMount("none", target, nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY);
}

void MountHostRoot() {
  MakeDir("/host");
  if (CurrentEngine() == Engine::kUml)
    MustMount("host", "/host", "hostfs", MS_RDONLY, "/");
  else
    MustMount("hostroot", "/host", "virtiofs");
}

// A directory of the upper layer that hides what the host has there.
void FreshDir(const std::string& path, mode_t mode = 0755, uid_t uid = 0, gid_t gid = 0) {
  const std::string dir = kUpper + path;
  for (const std::string& parent : Parents(kUpper, dir)) MakeDir(parent);
  MakeDir(dir, mode);
  if (chown(dir.c_str(), uid, gid) || chmod(dir.c_str(), mode) ||
      setxattr(dir.c_str(), "trusted.overlay.opaque", "y", 1, 0))
    Die("hide " + path);
}

gid_t GroupId(std::string_view name) {
  for (const std::string& line : Split(ReadFile("/seed/etc/group"), '\n')) {
    const std::vector<std::string> field = Split(line, ':');
    if (field.size() >= 3 && field[0] == name) return static_cast<gid_t>(atoi(field[2].c_str()));
  }
  return 0;
}

void FillUpperLayer() {
  for (const char* name : {"maco", "other"}) {
    const User user = FindUser("/seed/etc/passwd", name);
    FreshDir(user.home, 0755, user.uid, user.gid);
  }
  FreshDir("/var/tmp", 01777);
  FreshDir("/var/lib/systemd/linger");
  WriteFile(kUpper + "/var/lib/systemd/linger/maco", "");

  const gid_t journal = GroupId("systemd-journal");
  std::string machine_id = ReadFile("/seed/etc/machine-id");
  machine_id.resize(std::min<size_t>(machine_id.size(), 32));
  FreshDir("/var/log/journal", 02755, 0, journal);
  FreshDir("/var/log/journal/" + machine_id, 02755, 0, journal);

  // Generators cost about 0.3 s and make nothing that the guest uses.
  for (const char* kind : {"system", "user"}) {
    FreshDir(std::string("/usr/lib/systemd/") + kind + "-generators");
    FreshDir(std::string("/usr/lib/systemd/") + kind + "-environment-generators");
  }
}

void MountRoot() {
  MakeDir("/layers");
  MustMount("layers", "/layers", "tmpfs", 0, "mode=755");
  for (const char* name : {"/layers/upper", "/layers/work", "/layers/root", "/layers/open"})
    MakeDir(name);
  FillUpperLayer();
  MustMount("root", kRoot, "overlay", 0,
            "lowerdir=/seed:/host,upperdir=/layers/upper,workdir=/layers/work");
  // With this file systemd takes the guest for a container and ignores the kernel command line.
  unlink((kRoot + "/.dockerenv").c_str());
}

// What systemd-sysctl.service sets on a Debian system; the guest does not run it.
void SetSysctls() {
  constexpr struct {
    const char* name;
    const char* value;
  } settings[] = {
      {"fs/protected_fifos", "1"},    {"fs/protected_regular", "2"},
      {"fs/protected_symlinks", "1"}, {"fs/protected_hardlinks", "1"},
      {"kernel/dmesg_restrict", "1"}, {"kernel/unprivileged_bpf_disabled", "2"},
  };
  for (const auto& setting : settings) {
    const std::string path = std::string("/proc/sys/") + setting.name;
    if (access(path.c_str(), F_OK) == 0) WriteFile(path, setting.value);
  }
}

void MountFreshTrees() {
  MustMount("devtmpfs", kRoot + "/dev", "devtmpfs", MS_NOSUID, "mode=755");
  MakeDir(kRoot + "/dev/mqueue");
  MustMount("mqueue", kRoot + "/dev/mqueue", "mqueue", MS_NOSUID | MS_NODEV | MS_NOEXEC);
  chmod((kRoot + "/dev/mqueue").c_str(), 01777);
  MakeDir(kRoot + "/dev/shm", 01777);
  MakeDir(kRoot + "/dev/pts");

  MustMount("tmpfs", kRoot + "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777");
  MustMount("tmpfs", kRoot + "/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755");
  MakeDir(kRoot + "/run/lock", 01777);
  for (const char* name : {
           "dbus", "user", "systemd", "systemd/journal",
           "systemd/seats",      // pam_systemd takes this for a running logind
           "systemd/unit-root",  // without it every user unit with a mount property fails (226)
       })
    MakeDir(kRoot + "/run/" + name);
  WriteFile(kRoot + "/run/systemd/journal/flushed", "");

  const User maco = FindUser("/seed/etc/passwd", "maco");
  const std::string uid = std::to_string(maco.uid);
  const std::string runtime = kRoot + "/run/user/" + uid;
  MakeDir(runtime, 0700);
  MustMount("tmpfs", runtime, "tmpfs", MS_NOSUID | MS_NODEV,
            "mode=700,uid=" + uid + ",gid=" + std::to_string(maco.gid));
}

// Makes the mount point TARGET and lets maco through to it.
void MakeMountPoint(const std::string& target, const User& maco) {
  for (const std::string& dir : Parents(kRoot, target)) {
    MakeDir(dir);
    struct stat st;
    if (stat(dir.c_str(), &st)) Die("stat " + dir);
    const mode_t needed = st.st_uid == maco.uid ? S_IXUSR : S_IXOTH;
    if (!(st.st_mode & needed) && chmod(dir.c_str(), (st.st_mode & 07777) | needed))
      Complain("open " + dir);
  }
  MakeDir(target);
}

// A directory that only another user may enter (mktemp -d makes such) gets a top that maco may.
void OpenTop(const std::string& target, const User& maco) {
  struct stat st;
  if (stat(target.c_str(), &st)) Die("stat " + target);
  const mode_t needed = st.st_uid == maco.uid ? S_IRUSR | S_IXUSR : S_IROTH | S_IXOTH;
  if ((st.st_mode & needed) == needed) return;
  if (chdir(target.c_str())) Die("chdir " + target);
  MustMount("share", target, "overlay", MS_RDONLY, "lowerdir=/layers/open:.");
  if (chdir("/")) Die("chdir /");
}

// The control file "shares" holds MODE NUL HOST-DIRECTORY NUL GUEST-DIRECTORY NUL for each share.
void MountShares() {
  const User maco = FindUser("/seed/etc/passwd", "maco");
  const std::vector<std::string> word = Split(ReadFile(kRoot + kControlDir + "/shares"), '\0');
  for (size_t i = 0; i + 2 < word.size(); i += 3) {
    const bool read_only = word[i] == "ro";
    const std::string target = kRoot + word[i + 2];
    MakeMountPoint(target, maco);
    MountHostDir(word[i + 1], target, read_only);
    if (read_only) OpenTop(target, maco);
  }
}

void MountControlDir() {
  MakeDir(kRoot + "/run/guest", 0700);
  MakeDir(kRoot + kControlDir);
  MountHostDir(KernelParameter("guest.dir") + "/control", kRoot + kControlDir, false);
}

[[noreturn]] void StartSystemd() {
  if (chdir(kRoot.c_str()) || mount(".", "/", nullptr, MS_MOVE, nullptr) || chroot(".") ||
      chdir("/"))
    Die("switch to the new root");
  clearenv();
  setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
  // For PID 1 only: it then reads about 30 unit files, not 400.
  setenv("SYSTEMD_UNIT_PATH", "/etc/guest/system", 1);
  const char* const argv[] = {"/lib/systemd/systemd", nullptr};
  execv(argv[0], const_cast<char* const*>(argv));
  Die("exec systemd");
}

}  // namespace

void Boot() {
  MakeDir("/proc");
  MustMount("proc", "/proc", "proc");
  LoadModules("/modules");
  MountHostRoot();
  MountRoot();
  SetSysctls();
  MountFreshTrees();
  MountControlDir();
  MountShares();
  umount2("/proc", MNT_DETACH);
  StartSystemd();
}

}  // namespace guest

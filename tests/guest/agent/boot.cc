// First process of the guest: turns the initial RAM disk into a root directory and starts systemd.
//
// The RAM disk holds this program (/init), a few configuration files (/seed) and the kernel modules
// that are needed to reach the host's files (/modules). The guest's root directory is an overlay:
//     /layers/upper   tmpfs, takes every write
//     /seed           our configuration
//     /host           the host's own root directory, read only
#include "agent.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace guest {
namespace {

const std::string upper = "/layers/upper";
const std::string root = "/layers/root";

bool try_mount(const std::string& source, const std::string& target, const char* type,
               unsigned long flags = 0, const std::string& options = "")
{
    return mount(source.c_str(), target.c_str(), type, flags, options.c_str()) == 0;
}

void must_mount(const std::string& source, const std::string& target, const char* type,
                unsigned long flags = 0, const std::string& options = "")
{
    if (!try_mount(source, target, type, flags, options))
        die("mount " + source + " on " + target);
}

void make_dir(const std::string& path, mode_t mode = 0755)
{
    if (mkdir(path.c_str(), mode) && errno != EEXIST)
        die("mkdir " + path);
    if (mode != 0755 && chmod(path.c_str(), mode))
        die("chmod " + path);
}

// Every directory above PATH, which must lie below BASE.
std::vector<std::string> parents(const std::string& base, const std::string& path)
{
    std::vector<std::string> result;
    for (size_t slash = path.find('/', base.size() + 1); slash != std::string::npos;
         slash = path.find('/', slash + 1))
        result.push_back(path.substr(0, slash));
    return result;
}

void write_file(const std::string& path, std::string_view content)
{
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0 || write(fd, content.data(), content.size()) < 0)
        complain("write " + path);
    close(fd);
}

void load_module(const std::string& path)
{
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) && errno != EEXIST))
        complain("load " + path);
    close(fd);
}

// The file names start with a number that gives the order.
void load_modules(const std::string& directory)
{
    std::vector<std::string> names;
    DIR* dir = opendir(directory.c_str());
    if (!dir)
        return;
    while (const dirent* entry = readdir(dir))
        if (entry->d_name[0] != '.')
            names.emplace_back(entry->d_name);
    closedir(dir);
    std::sort(names.begin(), names.end());
    for (const std::string& name : names)
        load_module(directory + "/" + name);
}

// The host's directory PATH at TARGET.
void mount_host_dir(const std::string& path, const std::string& target, bool read_only)
{
    if (engine() == Engine::uml) {
        must_mount("host", target, "hostfs", read_only ? MS_RDONLY : 0, path);
        return;
    }
    must_mount("/host" + path, target, nullptr, MS_BIND);
    if (read_only)
        must_mount("none", target, nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY);
}

void mount_host_root()
{
    make_dir("/host");
    if (engine() == Engine::uml)
        must_mount("host", "/host", "hostfs", MS_RDONLY, "/");
    else
        must_mount("hostroot", "/host", "virtiofs");
}

// A directory of the upper layer that hides what the host has there.
void fresh_dir(const std::string& path, mode_t mode = 0755, uid_t uid = 0, gid_t gid = 0)
{
    const std::string dir = upper + path;
    for (const std::string& parent : parents(upper, dir))
        make_dir(parent);
    make_dir(dir, mode);
    if (chown(dir.c_str(), uid, gid) || chmod(dir.c_str(), mode) ||
        setxattr(dir.c_str(), "trusted.overlay.opaque", "y", 1, 0))
        die("hide " + path);
}

gid_t group_id(std::string_view name)
{
    for (const std::string& line : split(read_file("/seed/etc/group"), '\n')) {
        const std::vector<std::string> field = split(line, ':');
        if (field.size() >= 3 && field[0] == name)
            return static_cast<gid_t>(atoi(field[2].c_str()));
    }
    return 0;
}

void fill_upper_layer()
{
    for (const char* name : {"maco", "other"}) {
        const User user = find_user("/seed/etc/passwd", name);
        fresh_dir(user.home, 0755, user.uid, user.gid);
    }
    fresh_dir("/var/tmp", 01777);
    fresh_dir("/var/lib/systemd/linger");
    write_file(upper + "/var/lib/systemd/linger/maco", "");

    const gid_t journal = group_id("systemd-journal");
    std::string machine_id = read_file("/seed/etc/machine-id");
    machine_id.resize(std::min<size_t>(machine_id.size(), 32));
    fresh_dir("/var/log/journal", 02755, 0, journal);
    fresh_dir("/var/log/journal/" + machine_id, 02755, 0, journal);

    // Generators cost about 0.3 s and make nothing that the guest uses.
    for (const char* kind : {"system", "user"}) {
        fresh_dir(std::string("/usr/lib/systemd/") + kind + "-generators");
        fresh_dir(std::string("/usr/lib/systemd/") + kind + "-environment-generators");
    }
}

void mount_root()
{
    make_dir("/layers");
    must_mount("layers", "/layers", "tmpfs", 0, "mode=755");
    for (const char* name : {"/layers/upper", "/layers/work", "/layers/root", "/layers/open"})
        make_dir(name);
    fill_upper_layer();
    must_mount("root", root, "overlay", 0,
               "lowerdir=/seed:/host,upperdir=/layers/upper,workdir=/layers/work");
    // With this file systemd takes the guest for a container and ignores the kernel command line.
    unlink((root + "/.dockerenv").c_str());
}

// What a Debian system sets by sysctl.d and by systemd-sysctl.service, which the guest does not run.
void set_sysctls()
{
    constexpr struct {
        const char* name;
        const char* value;
    } settings[] = {
        {"fs/protected_fifos", "1"},     {"fs/protected_regular", "2"},
        {"fs/protected_symlinks", "1"},  {"fs/protected_hardlinks", "1"},
        {"kernel/dmesg_restrict", "1"},  {"kernel/unprivileged_bpf_disabled", "2"},
    };
    for (const auto& setting : settings) {
        const std::string path = std::string("/proc/sys/") + setting.name;
        if (access(path.c_str(), F_OK) == 0)
            write_file(path, setting.value);
    }
}

void mount_fresh_trees()
{
    must_mount("devtmpfs", root + "/dev", "devtmpfs", MS_NOSUID, "mode=755");
    make_dir(root + "/dev/mqueue");
    must_mount("mqueue", root + "/dev/mqueue", "mqueue", MS_NOSUID | MS_NODEV | MS_NOEXEC);
    chmod((root + "/dev/mqueue").c_str(), 01777);
    make_dir(root + "/dev/shm", 01777);
    make_dir(root + "/dev/pts");

    must_mount("tmpfs", root + "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777");
    must_mount("tmpfs", root + "/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755");
    make_dir(root + "/run/lock", 01777);
    for (const char* name : {
             "dbus", "user", "systemd", "systemd/journal",
             "systemd/seats",      // pam_systemd takes this for a running logind
             "systemd/unit-root",  // without it every user unit with a mount property fails (226)
         })
        make_dir(root + "/run/" + name);
    write_file(root + "/run/systemd/journal/flushed", "");

    const User maco = find_user("/seed/etc/passwd", "maco");
    const std::string uid = std::to_string(maco.uid);
    const std::string runtime = root + "/run/user/" + uid;
    make_dir(runtime, 0700);
    must_mount("tmpfs", runtime, "tmpfs", MS_NOSUID | MS_NODEV,
               "mode=700,uid=" + uid + ",gid=" + std::to_string(maco.gid));
}

// Makes the mount point TARGET and lets maco through to it.
void make_mount_point(const std::string& target, const User& maco)
{
    std::vector<std::string> directories = parents(root, target);
    for (const std::string& dir : directories) {
        struct stat st;
        make_dir(dir);
        if (stat(dir.c_str(), &st))
            die("stat " + dir);
        const mode_t needed = st.st_uid == maco.uid ? S_IXUSR : S_IXOTH;
        if (!(st.st_mode & needed) && chmod(dir.c_str(), (st.st_mode & 07777) | needed))
            complain("open " + dir);
    }
    make_dir(target);
}

// A directory that only another user may enter (mktemp -d makes such) gets a top that maco may.
void open_top(const std::string& target, const User& maco)
{
    struct stat st;
    if (stat(target.c_str(), &st))
        die("stat " + target);
    const mode_t needed = st.st_uid == maco.uid ? S_IRUSR | S_IXUSR : S_IROTH | S_IXOTH;
    if ((st.st_mode & needed) == needed)
        return;
    if (chdir(target.c_str()))
        die("chdir " + target);
    must_mount("share", target, "overlay", MS_RDONLY, "lowerdir=/layers/open:.");
    if (chdir("/"))
        die("chdir /");
}

// The control file "shares" holds MODE NUL HOST-DIRECTORY NUL GUEST-DIRECTORY NUL for each share.
void mount_shares()
{
    const User maco = find_user("/seed/etc/passwd", "maco");
    const std::vector<std::string> word = split(read_file(root + control_dir + "/shares"), '\0');
    for (size_t i = 0; i + 2 < word.size(); i += 3) {
        const bool read_only = word[i] == "ro";
        const std::string target = root + word[i + 2];
        make_mount_point(target, maco);
        mount_host_dir(word[i + 1], target, read_only);
        if (read_only)
            open_top(target, maco);
    }
}

void mount_control_dir()
{
    make_dir(root + "/run/guest", 0700);
    make_dir(root + control_dir);
    mount_host_dir(kernel_parameter("guest.dir") + "/control", root + control_dir, false);
}

[[noreturn]] void start_systemd()
{
    if (chdir(root.c_str()) || mount(".", "/", nullptr, MS_MOVE, nullptr) || chroot(".") || chdir("/"))
        die("switch to the new root");
    clearenv();
    setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
    // For PID 1 only: it then reads about 30 unit files, not 400.
    setenv("SYSTEMD_UNIT_PATH", "/etc/guest/system", 1);
    const char* const argv[] = {"/lib/systemd/systemd", nullptr};
    execv(argv[0], const_cast<char* const*>(argv));
    die("exec systemd");
}

}  // namespace

void boot()
{
    make_dir("/proc");
    must_mount("proc", "/proc", "proc");
    load_modules("/modules");
    mount_host_root();
    mount_root();
    set_sysctls();
    mount_fresh_trees();
    mount_control_dir();
    mount_shares();
    umount2("/proc", MNT_DETACH);
    start_systemd();
}

}  // namespace guest

// Runs the command: relays its two output streams to the host, reports its status, ends the guest.
#include "agent.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

namespace guest {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// A background process may keep an output stream open after the command has ended. What it writes
// is relayed until it pauses for this long, or for this long at most.
constexpr milliseconds quiet_time{200};
constexpr milliseconds drain_time{2000};

struct Command {
    std::vector<std::string> argv;
    std::vector<std::string> environment;
    std::string directory;
    std::string user;
};

struct Stream {
    int from_command;
    int to_host;
};

std::string control_file(const char* name)
{
    return std::string(control_dir) + "/" + name;
}

Command read_command()
{
    return {split(read_file(control_file("argv")), '\0'), split(read_file(control_file("env")), '\0'),
            read_file(control_file("directory")), read_file(control_file("user"))};
}

std::vector<char*> pointers(std::vector<std::string>& words)
{
    std::vector<char*> result;
    for (std::string& word : words)
        result.push_back(word.data());
    result.push_back(nullptr);
    return result;
}

void write_all(int fd, std::string_view data)
{
    while (!data.empty()) {
        const ssize_t count = write(fd, data.data(), data.size());
        if (count >= 0)
            data.remove_prefix(static_cast<size_t>(count));
        else if (errno == EAGAIN)
            usleep(1000);
        else if (errno != EINTR)
            return;
    }
}

// Stream 0 is the command's output, stream 1 its error output. In UML they are serial lines; in
// QEMU virtio ports, whose name holds the index of the virtio device.
std::vector<std::string> port_names(int stream)
{
    std::vector<std::string> names;
    if (engine() == Engine::uml)
        names.push_back("/dev/ttyS" + std::to_string(stream));
    else
        for (int device = 0; device < 8; ++device)
            names.push_back("/dev/vport" + std::to_string(device) + "p" + std::to_string(stream + 1));
    return names;
}

int open_port(int stream)
{
    const std::vector<std::string> names = port_names(stream);
    for (int attempt = 0; attempt < 200; ++attempt) {
        for (const std::string& name : names) {
            const int fd = open(name.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
            if (fd < 0)
                continue;
            termios mode;
            if (tcgetattr(fd, &mode) == 0) {
                cfmakeraw(&mode);
                tcsetattr(fd, TCSANOW, &mode);
            }
            return fd;
        }
        usleep(10'000);
    }
    die("open " + names.front());
}

std::vector<gid_t> groups_of(const User& user)
{
    std::vector<gid_t> groups{user.gid};
    for (const std::string& line : split(read_file("/etc/group"), '\n')) {
        const std::vector<std::string> field = split(line, ':');
        if (field.size() < 4)
            continue;
        for (const std::string& member : split(field[3], ','))
            if (member == user.name)
                groups.push_back(static_cast<gid_t>(atoi(field[2].c_str())));
    }
    return groups;
}

bool become(const User& user)
{
    const std::vector<gid_t> groups = groups_of(user);
    return setgroups(groups.size(), groups.data()) == 0 &&
           setresgid(user.gid, user.gid, user.gid) == 0 &&
           setresuid(user.uid, user.uid, user.uid) == 0;
}

[[noreturn]] void exec_command(Command command, const User& user, int out, int err)
{
    int in = open(control_file("stdin").c_str(), O_RDONLY);
    if (in < 0)
        in = open("/dev/null", O_RDONLY);
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    close(in);
    setsid();
    signal(SIGPIPE, SIG_DFL);

    int status = 126;
    if (!become(user)) {
        complain("become " + user.name);
    } else if (chdir(command.directory.c_str())) {
        complain("enter " + command.directory);
    } else {
        clearenv();
        for (std::string& variable : command.environment)
            putenv(variable.data());
        execvp(command.argv[0].c_str(), pointers(command.argv).data());
        status = errno == ENOENT ? 127 : 126;
        complain("start " + command.argv[0]);
    }
    _exit(status);
}

// Passes on what can be read. False at the end of the stream.
bool relay(const Stream& stream)
{
    static char buffer[65536];
    const ssize_t count = read(stream.from_command, buffer, sizeof buffer);
    if (count <= 0)
        return false;
    write_all(stream.to_host, {buffer, static_cast<size_t>(count)});
    return true;
}

void relay_until_end(const Stream (&streams)[2], int command_fd)
{
    pollfd polls[3] = {{streams[0].from_command, POLLIN, 0},
                       {streams[1].from_command, POLLIN, 0},
                       {command_fd, POLLIN, 0}};
    Clock::time_point deadline = Clock::time_point::max();
    while (polls[0].fd >= 0 || polls[1].fd >= 0) {
        const bool ended = polls[2].fd < 0;
        if (Clock::now() > deadline)
            return;
        const int ready = poll(polls, 3, ended ? static_cast<int>(quiet_time.count()) : -1);
        if (ready == 0)
            return;
        for (int i = 0; i < 2; ++i)
            if (polls[i].revents && !relay(streams[i]))
                polls[i].fd = -1;
        if (polls[2].revents) {
            polls[2].fd = -1;
            deadline = Clock::now() + drain_time;
        }
    }
}

int wait_status(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void report(int status)
{
    const int fd = open(control_file("status").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        die("open the status file");
    write_all(fd, std::to_string(status) + "\n");
    fsync(fd);
    close(fd);
}

}  // namespace

void run_command()
{
    Command command = read_command();
    if (command.argv.empty())
        die("read the command");
    const User user = find_user("/etc/passwd", command.user);

    int out[2], err[2];
    if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
        die("pipe");
    const Stream streams[2] = {{out[0], open_port(0)}, {err[0], open_port(1)}};

    const pid_t pid = fork();
    if (pid < 0)
        die("fork");
    if (pid == 0)
        exec_command(std::move(command), user, out[1], err[1]);
    close(out[1]);
    close(err[1]);
    signal(SIGPIPE, SIG_IGN);

    relay_until_end(streams, static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    const int status = wait_status(pid);
    for (const Stream& stream : streams)
        if (isatty(stream.to_host))
            tcdrain(stream.to_host);
    report(status);
    power_off();
}

}  // namespace guest

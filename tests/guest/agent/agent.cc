#include "agent.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/reboot.h>
#include <unistd.h>

namespace guest {

void complain(std::string_view what)
{
    const int error = errno;
    fprintf(stderr, "agent: %.*s: %s\n", static_cast<int>(what.size()), what.data(), strerror(error));
}

void power_off()
{
    // Started by hand on a real machine, this program must not switch that machine off.
    if (!kernel_parameter("guest.dir").empty()) {
        sync();
        reboot(RB_POWER_OFF);
    }
    _exit(EXIT_FAILURE);
}

void die(std::string_view what)
{
    complain(what);
    power_off();
}

std::string read_file(const std::string& path)
{
    std::string content;
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return content;
    char buffer[16384];
    ssize_t count;
    while ((count = read(fd, buffer, sizeof buffer)) > 0)
        content.append(buffer, static_cast<size_t>(count));
    close(fd);
    return content;
}

std::vector<std::string> split(std::string_view text, char separator)
{
    std::vector<std::string> parts;
    while (!text.empty()) {
        const size_t end = text.find(separator);
        parts.emplace_back(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return parts;
}

std::string kernel_parameter(std::string_view name)
{
    const std::string prefix = std::string(name) + '=';
    std::string line = read_file("/proc/cmdline");
    if (line.ends_with('\n'))
        line.pop_back();
    for (const std::string& word : split(line, ' '))
        if (word.starts_with(prefix))
            return word.substr(prefix.size());
    return {};
}

Engine engine()
{
    return kernel_parameter("guest.engine") == "qemu" ? Engine::qemu : Engine::uml;
}

User find_user(const std::string& passwd_file, std::string_view name)
{
    for (const std::string& line : split(read_file(passwd_file), '\n')) {
        const std::vector<std::string> field = split(line, ':');
        if (field.size() >= 6 && field[0] == name)
            return {field[0], static_cast<uid_t>(atoi(field[2].c_str())),
                    static_cast<gid_t>(atoi(field[3].c_str())), field[5]};
    }
    errno = ENOENT;
    die("user " + std::string(name));
}

}  // namespace guest

int main(int argc, char** argv)
{
    const std::string_view verb = argc > 1 ? argv[1] : "";
    if (getpid() == 1)
        guest::boot();
    if (verb == "run")
        guest::run_command();
    if (verb == "fail") {  // started by systemd when the command's service cannot start
        fprintf(stderr, "agent: the user manager or the system bus did not start\n");
        guest::power_off();
    }
    fprintf(stderr, "usage: agent run | agent fail\n");
    return EXIT_FAILURE;
}

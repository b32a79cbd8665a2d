// Calls on privileged and rarely used kernel interfaces, each with an effect when it is allowed.
// Parameters: module= a kernel module, file= any file on a file system with handles,
// kernel= a kernel image, tty= a virtual console. Frame: tests/hostile/attempt.h.
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/kcmp.h>
#include <linux/kexec.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <linux/reboot.h>
#include <mqueue.h>
#include <sys/acct.h>
#include <sys/io.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/personality.h>
#include <sys/quota.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

#include "tests/hostile/attempt.h"

namespace {

using hostile::CloseAfter;
using hostile::InChild;
using hostile::Outcome;
using hostile::Parameter;

int Bpf() {
  union bpf_attr attributes {};
  attributes.map_type = BPF_MAP_TYPE_ARRAY;
  attributes.key_size = 4;
  attributes.value_size = 4;
  attributes.max_entries = 1;
  return CloseAfter(syscall(SYS_bpf, BPF_MAP_CREATE, &attributes, sizeof attributes));
}

int Perf() {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_PAGE_FAULTS;
  attributes.exclude_kernel = 1;
  return CloseAfter(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
}

int AddKey() {
  return Outcome(syscall(SYS_add_key, "user", "hostile", "x", 1, KEY_SPEC_PROCESS_KEYRING));
}

// A key that the test has put into the user's keyring.
int FindKey() {
  return Outcome(
      syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_USER_KEYRING, "user", "outer-secret", 0));
}

int RequestKey() {
  syscall(SYS_add_key, "user", "hostile", "x", 1, KEY_SPEC_PROCESS_KEYRING);
  return Outcome(syscall(SYS_request_key, "user", "hostile", nullptr, 0));
}

int PutKey() {
  return Outcome(syscall(SYS_add_key, "user", "outer-secret", "s", 1, KEY_SPEC_USER_KEYRING));
}

int KexecLoad() { return Outcome(syscall(SYS_kexec_load, 0, 0, nullptr, KEXEC_ARCH_DEFAULT)); }

int KexecFileLoad() {
  const int fd = open(Parameter("kernel").c_str(), O_RDONLY | O_CLOEXEC);
  const int result = Outcome(syscall(SYS_kexec_file_load, fd, -1, 1, "", KEXEC_FILE_NO_INITRAMFS));
  close(fd);
  return result;
}

std::string ReadWhole(const std::string& path) {
  std::string out;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  char part[65536];
  long n = 0;
  while ((n = read(fd, part, sizeof part)) > 0) {
    out.append(part, static_cast<std::size_t>(n));
  }
  close(fd);
  return out;
}

std::string ModuleName() {
  std::string name = Parameter("module");
  name = name.substr(name.rfind('/') + 1);
  return name.substr(0, name.find('.'));
}

int DeleteModule() { return Outcome(syscall(SYS_delete_module, ModuleName().c_str(), 0)); }

int InitModule() {
  const std::string image = ReadWhole(Parameter("module"));
  return Outcome(syscall(SYS_init_module, image.data(), image.size(), ""));
}

int FinitModule() {
  const int fd = open(Parameter("module").c_str(), O_RDONLY | O_CLOEXEC);
  const int result = Outcome(syscall(SYS_finit_module, fd, "", 0));
  close(fd);
  return result;
}

int OpenByHandle() {
  struct {
    file_handle head;
    unsigned char rest[MAX_HANDLE_SZ];
  } handle{};
  handle.head.handle_bytes = MAX_HANDLE_SZ;
  int mount_id = 0;
  const std::string file = Parameter("file");
  const int named = Outcome(name_to_handle_at(AT_FDCWD, file.c_str(), &handle.head, &mount_id, 0));
  if (named != 0) {
    return named;
  }
  const int directory = open(file.substr(0, file.rfind('/')).c_str(), O_RDONLY | O_DIRECTORY);
  const int result = CloseAfter(open_by_handle_at(directory, &handle.head, O_RDONLY));
  close(directory);
  return result;
}

int Quotactl() { return Outcome(syscall(SYS_quotactl, QCMD(Q_SYNC, USRQUOTA), nullptr, 0, 0)); }

int MessageQueue(int flags, const char* name) {
  const int result = CloseAfter(mq_open(name, flags, 0600, nullptr));
  if ((flags & O_CREAT) != 0) {
    mq_unlink(name);
  }
  return result;
}

int Remove(int id, long (*remove)(int)) {
  const int result = Outcome(id);
  if (id >= 0) {
    remove(id);
  }
  return result;
}

// Objects that the test has made outside, under this key.
constexpr key_t kOuterKey = 0x4D41;

int SetTime() {
  timeval now{};
  gettimeofday(&now, nullptr);
  return Outcome(settimeofday(&now, nullptr));
}

int SetClock() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return Outcome(clock_settime(CLOCK_REALTIME, &now));
}

int Adjust(bool by_clock) {
  timex time{};
  return Outcome(by_clock ? clock_adjtime(CLOCK_REALTIME, &time) : adjtimex(&time));
}

int Madvise() {
  const int self = static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0));
  void* const page =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const iovec range{page, 4096};
  constexpr int kCold = 20;  // MADV_COLD
  const int result = Outcome(syscall(SYS_process_madvise, self, &range, 1, kCold, 0));
  close(self);
  return result;
}

int Ustat() {
  struct stat st {};
  stat("/", &st);
  char buffer[64];
  return Outcome(syscall(SYS_ustat, st.st_dev, buffer));
}

int ConsoleInput() {
  const int fd = open(Parameter("tty").c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) {
    return errno;
  }
  char shift_state = 6;  // TIOCL_GETSHIFTSTATE
  const int result = Outcome(ioctl(fd, TIOCLINUX, &shift_state));
  close(fd);
  return result;
}

// On a file that can only be read inside; whoever wants to write it has to wait.
int Lease() {
  const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  const int result = Outcome(fcntl(fd, F_SETLEASE, F_RDLCK));
  close(fd);
  return result;
}

int AioContext() {
  unsigned long context = 0;
  const int result = Outcome(syscall(SYS_io_setup, 1, &context));
  if (result == 0) {
    syscall(SYS_io_destroy, context);
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  return hostile::RunAttempts(
      argc, argv,
      {
          {"bpf", Bpf},
          {"perf", Perf},
          {"userfaultfd", [] { return CloseAfter(syscall(SYS_userfaultfd, 1)); }},
          {"add-key", AddKey},
          {"request-key", RequestKey},
          {"put-key", PutKey},
          {"find-key", FindKey},
          {"kexec-load", KexecLoad},
          {"kexec-file-load", KexecFileLoad},
          {"init-module", InitModule},
          {"delete-module", DeleteModule},
          {"finit-module", FinitModule},
          {"delete-module-again", DeleteModule},
          {"open-by-handle", OpenByHandle},
          {"quotactl", Quotactl},
          {"swapon", [] { return Outcome(swapon(Parameter("file").c_str(), 0)); }},
          {"swapoff", [] { return Outcome(swapoff(Parameter("file").c_str())); }},
          {"reboot",
           [] {
             return Outcome(syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2,
                                    LINUX_REBOOT_CMD_CAD_OFF, nullptr));
           }},
          {"syslog", [] { return Outcome(klogctl(10, nullptr, 0)); }},
          {"acct", [] { return Outcome(acct(nullptr)); }},
          {"vhangup", [] { return InChild([] { return Outcome(vhangup()); }); }},
          {"iopl", [] { return InChild([] { return Outcome(iopl(3)); }); }},
          {"ioperm", [] { return InChild([] { return Outcome(ioperm(0x80, 1, 1)); }); }},
          {"fanotify", [] { return CloseAfter(syscall(SYS_fanotify_init, 0x200, O_RDONLY)); }},
          {"settimeofday", SetTime},
          {"clock-settime", SetClock},
          {"adjtimex", [] { return Adjust(false); }},
          {"clock-adjtime", [] { return Adjust(true); }},
          {"personality",
           [] { return InChild([] { return Outcome(personality(ADDR_NO_RANDOMIZE)); }); }},
          {"memfd-secret", [] { return CloseAfter(syscall(SYS_memfd_secret, 0)); }},
          {"kcmp", [] { return Outcome(syscall(SYS_kcmp, getpid(), getpid(), KCMP_VM, 0, 0)); }},
          {"process-madvise", Madvise},
          {"sysfs", [] { return Outcome(syscall(SYS_sysfs, 3)); }},
          {"ustat", Ustat},
          {"shm-new",
           [] {
             return Remove(shmget(IPC_PRIVATE, 4096, 0600),
                           [](int id) { return long{shmctl(id, IPC_RMID, nullptr)}; });
           }},
          {"sem-new",
           [] {
             return Remove(semget(IPC_PRIVATE, 1, 0600),
                           [](int id) { return long{semctl(id, 0, IPC_RMID)}; });
           }},
          {"msg-new",
           [] {
             return Remove(msgget(IPC_PRIVATE, 0600),
                           [](int id) { return long{msgctl(id, IPC_RMID, nullptr)}; });
           }},
          {"shm-outer", [] { return Outcome(shmget(kOuterKey, 0, 0)); }},
          {"sem-outer", [] { return Outcome(semget(kOuterKey, 0, 0)); }},
          {"msg-outer", [] { return Outcome(msgget(kOuterKey, 0)); }},
          {"mq-new", [] { return MessageQueue(O_CREAT | O_RDWR, "/hostile"); }},
          {"mq-outer", [] { return MessageQueue(O_RDWR, "/outer"); }},
          {"console-input", ConsoleInput},
          {"lease", Lease},
          {"aio-context", AioContext},
      });
}

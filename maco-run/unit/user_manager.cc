// sd-bus calls and signal matches; the only file that includes sd-bus.
// Contract: maco-run/unit/user_manager.h.
#include "maco-run/unit/user_manager.h"

#include <poll.h>
#include <sys/stat.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>

#include "libcommon/base/text.h"
#include "libcommon/os/directory.h"

namespace maco::run {
namespace {

constexpr char kDestination[] = "org.freedesktop.systemd1";
constexpr char kManagerPath[] = "/org/freedesktop/systemd1";
constexpr char kManagerInterface[] = "org.freedesktop.systemd1.Manager";
constexpr char kPropertiesInterface[] = "org.freedesktop.DBus.Properties";
constexpr char kServiceInterface[] = "org.freedesktop.systemd1.Service";
constexpr char kUnitInterface[] = "org.freedesktop.systemd1.Unit";
constexpr std::uint64_t kCallTimeoutMicros = 25'000'000;

struct UnrefBus {
  void operator()(sd_bus* bus) const { sd_bus_close_unref(bus); }
};
struct UnrefMessage {
  void operator()(sd_bus_message* message) const { sd_bus_message_unref(message); }
};
using Bus = std::unique_ptr<sd_bus, UnrefBus>;
using Message = std::unique_ptr<sd_bus_message, UnrefMessage>;

class BusError {
 public:
  BusError() = default;
  ~BusError() { sd_bus_error_free(&error_); }
  BusError(const BusError&) = delete;
  BusError& operator=(const BusError&) = delete;
  sd_bus_error* get() { return &error_; }
  std::string Text(int result) const {
    return error_.message != nullptr ? error_.message : strerror(-result);
  }

 private:
  sd_bus_error error_ = SD_BUS_ERROR_NULL;
};

// Appends one value; the variant's alternatives are the D-Bus types.
struct Append {
  sd_bus_message* message;
  int operator()(bool value) const {
    return sd_bus_message_append(message, "v", "b", static_cast<int>(value));
  }
  int operator()(std::int32_t value) const {
    return sd_bus_message_append(message, "v", "i", value);
  }
  int operator()(std::uint32_t value) const {
    return sd_bus_message_append(message, "v", "u", value);
  }
  int operator()(std::uint64_t value) const {
    return sd_bus_message_append(message, "v", "t", value);
  }
  int operator()(const std::string& value) const {
    return sd_bus_message_append(message, "v", "s", value.c_str());
  }
  template <typename Item>
  int List(const char* type, const Item& item) const {
    const std::string array = std::string("a") + type;
    int result = sd_bus_message_open_container(message, 'v', array.c_str());
    result = result < 0 ? result : sd_bus_message_open_container(message, 'a', type);
    result = result < 0 ? result : item();
    result = result < 0 ? result : sd_bus_message_close_container(message);
    return result < 0 ? result : sd_bus_message_close_container(message);
  }
  int operator()(const std::vector<std::string>& value) const {
    return List("s", [&] {
      int result = 0;
      for (const auto& text : value) {
        result = result < 0 ? result : sd_bus_message_append(message, "s", text.c_str());
      }
      return result;
    });
  }
  int operator()(const std::vector<BindMount>& value) const {
    return List("(ssbt)", [&] {
      int result = 0;
      for (const auto& bind : value) {
        const std::uint64_t flags = bind.recursive ? 16384 : 0;  // MS_REC
        result = result < 0 ? result
                            : sd_bus_message_append(message, "(ssbt)", bind.source.c_str(),
                                                    bind.target.c_str(),
                                                    static_cast<int>(bind.ignore_missing), flags);
      }
      return result;
    });
  }
  int operator()(const std::vector<TmpfsMount>& value) const {
    return List("(ss)", [&] {
      int result = 0;
      for (const auto& mount : value) {
        result = result < 0 ? result
                            : sd_bus_message_append(message, "(ss)", mount.path.c_str(),
                                                    mount.options.c_str());
      }
      return result;
    });
  }
};

// Reads one variant in the type of `wanted`. False: another type, or malformed.
struct Extract {
  sd_bus_message* message;
  PropertyValue& out;

  template <typename Basic, typename Value>
  bool Basics(char type, Value) const {
    Basic basic{};
    const char contents[] = {type, '\0'};
    if (sd_bus_message_enter_container(message, 'v', contents) < 0 ||
        sd_bus_message_read_basic(message, type, &basic) < 0) {
      return false;
    }
    out = static_cast<Value>(basic);
    return sd_bus_message_exit_container(message) >= 0;
  }
  bool operator()(bool) const {
    int value = 0;
    if (sd_bus_message_read(message, "v", "b", &value) < 0) {
      return false;
    }
    out = value != 0;
    return true;
  }
  bool operator()(std::int32_t value) const { return Basics<std::int32_t>('i', value); }
  bool operator()(std::uint32_t value) const { return Basics<std::uint32_t>('u', value); }
  bool operator()(std::uint64_t value) const { return Basics<std::uint64_t>('t', value); }
  bool operator()(const std::string&) const {
    const char* value = nullptr;
    if (sd_bus_message_read(message, "v", "s", &value) < 0) {
      return false;
    }
    out = std::string(value);
    return true;
  }
  template <typename Item>
  bool List(const char* type, const Item& item) const {
    const std::string array = std::string("a") + type;
    if (sd_bus_message_enter_container(message, 'v', array.c_str()) < 0 ||
        sd_bus_message_enter_container(message, 'a', type) < 0) {
      return false;
    }
    while (item()) {
    }
    return sd_bus_message_exit_container(message) >= 0 &&
           sd_bus_message_exit_container(message) >= 0;
  }
  bool operator()(const std::vector<std::string>&) const {
    std::vector<std::string> list;
    const bool good = List("s", [&] {
      const char* text = nullptr;
      if (sd_bus_message_read(message, "s", &text) <= 0) {
        return false;
      }
      list.emplace_back(text);
      return true;
    });
    out = std::move(list);
    return good;
  }
  bool operator()(const std::vector<BindMount>&) const {
    std::vector<BindMount> list;
    const bool good = List("(ssbt)", [&] {
      const char* source = nullptr;
      const char* target = nullptr;
      int ignore = 0;
      std::uint64_t flags = 0;
      if (sd_bus_message_read(message, "(ssbt)", &source, &target, &ignore, &flags) <= 0) {
        return false;
      }
      list.push_back({source, target, ignore != 0, flags != 0});
      return true;
    });
    out = std::move(list);
    return good;
  }
  bool operator()(const std::vector<TmpfsMount>&) const {
    std::vector<TmpfsMount> list;
    const bool good = List("(ss)", [&] {
      const char* path = nullptr;
      const char* options = nullptr;
      if (sd_bus_message_read(message, "(ss)", &path, &options) <= 0) {
        return false;
      }
      list.push_back({path, options});
      return true;
    });
    out = std::move(list);
    return good;
  }
};

// Walks an a{sv}; `entry` consumes the variant, or the walk skips it.
template <typename Entry>
int ForEachProperty(sd_bus_message* message, Entry entry) {
  int result = sd_bus_message_enter_container(message, 'a', "{sv}");
  while (result >= 0 && (result = sd_bus_message_enter_container(message, 'e', "sv")) > 0) {
    const char* name = nullptr;
    result = sd_bus_message_read(message, "s", &name);
    if (result >= 0 && !entry(name)) {
      result = sd_bus_message_skip(message, "v");
    }
    result = result < 0 ? result : sd_bus_message_exit_container(message);
  }
  return result < 0 ? result : sd_bus_message_exit_container(message);
}

std::string ReadText(sd_bus_message* message) {
  const char* text = nullptr;
  return sd_bus_message_read(message, "v", "s", &text) < 0 ? std::string() : std::string(text);
}

std::int32_t ReadInt(sd_bus_message* message) {
  std::int32_t value = 0;
  return sd_bus_message_read(message, "v", "i", &value) < 0 ? 0 : value;
}

constexpr char kNoManager[] =
    "start one: 'loginctl enable-linger' and log in again, or 'systemctl start user@$(id -u)' as "
    "root";

Result<Bus> OpenBus(uid_t uid) {
  const std::string runtime = "/run/user/" + std::to_string(uid);
  const auto directory = Directory::OpenPath(runtime);
  if (!directory) {
    return Fail(Code::kUnsupported, "no systemd user manager: " + directory.error().message,
                kNoManager);
  }
  FileIdentity identity;
  MACO_ASSIGN(identity, directory->Identity());
  if (auto is_private = RequirePrivateDirectory(identity, runtime); !is_private) {
    return Fail(Code::kUnsupported, is_private.error().message, kNoManager);
  }
  std::string why = "'" + runtime + "' holds neither a bus nor a manager's socket";
  for (const char* name : {"/bus", "/systemd/private"}) {
    const std::string path = runtime + name;
    if (access(path.c_str(), F_OK) != 0) {
      continue;
    }
    sd_bus* raw = nullptr;
    int result = sd_bus_new(&raw);
    Bus bus(raw);
    result = result < 0 ? result : sd_bus_set_address(raw, ("unix:path=" + path).c_str());
    if (strcmp(name, "/bus") == 0) {
      result = result < 0 ? result : sd_bus_set_bus_client(raw, 1);
    }
    result = result < 0 ? result : sd_bus_start(raw);
    if (result >= 0) {
      sd_bus_set_method_call_timeout(raw, kCallTimeoutMicros);
      return bus;
    }
    why = "cannot connect to '" + path + "': " + strerror(-result);
  }
  return Fail(Code::kUnsupported, "no systemd user manager: " + why, kNoManager);
}

}  // namespace

class UserManager::Connection {
 public:
  explicit Connection(Bus bus) : bus_(std::move(bus)) {}

  sd_bus* bus() const { return bus_.get(); }
  UnitState& state() { return state_; }
  const std::string& path() const { return path_; }

  Result<void> Follow(const std::string& unit) {
    unit_ = unit;
    char* path = nullptr;
    int result = sd_bus_path_encode("/org/freedesktop/systemd1/unit", unit.c_str(), &path);
    if (result >= 0) {
      path_ = path;
      free(path);
      // No sender in the match: on the private socket messages carry none.
      result = sd_bus_match_signal(bus_.get(), nullptr, nullptr, path_.c_str(),
                                   kPropertiesInterface, "PropertiesChanged", OnProperties, this);
    }
    if (result >= 0) {
      result = sd_bus_match_signal(bus_.get(), nullptr, nullptr, kManagerPath, kManagerInterface,
                                   "JobRemoved", OnJob, this);
    }
    BusError error;
    if (result >= 0) {
      result = sd_bus_call_method(bus_.get(), kDestination, kManagerPath, kManagerInterface,
                                  "Subscribe", error.get(), nullptr, "");
    }
    if (result < 0) {
      return Fail(Code::kIo, "cannot follow units of the user manager: " + error.Text(result));
    }
    return {};
  }

  Result<Message> GetAll(const char* interface) {
    BusError error;
    sd_bus_message* reply = nullptr;
    const int result =
        sd_bus_call_method(bus_.get(), kDestination, path_.c_str(), kPropertiesInterface, "GetAll",
                           error.get(), &reply, "s", interface);
    if (result < 0) {
      return Fail(Code::kIo, "cannot read the unit's properties back: " + error.Text(result));
    }
    return Message(reply);
  }

 private:
  static int OnProperties(sd_bus_message* message, void* data, sd_bus_error* /*error*/) {
    auto* self = static_cast<Connection*>(data);
    const char* interface = nullptr;
    if (sd_bus_message_read(message, "s", &interface) < 0) {
      return 0;
    }
    ForEachProperty(message, [&](const char* name) { return self->Take(message, name); });
    return 0;
  }

  bool Take(sd_bus_message* message, std::string_view name) {
    if (name == "ActiveState") {
      TakeActiveState(ReadText(message));
    } else if (name == "Result") {
      state_.result = ReadText(message);
    } else if (name == "ExecMainCode") {
      state_.exec_main_code = ReadInt(message);
    } else if (name == "ExecMainStatus") {
      state_.exec_main_status = ReadInt(message);
    } else {
      return false;
    }
    return true;
  }

  void TakeActiveState(std::string value) {
    // "inactive" is also announced once before the start.
    if (value == "activating" || value == "active") {
      state_.started = true;
    }
    if (state_.started && (value == "inactive" || value == "failed")) {
      state_.ended = true;
    }
    state_.active_state = std::move(value);
  }

  static int OnJob(sd_bus_message* message, void* data, sd_bus_error* /*error*/) {
    auto* self = static_cast<Connection*>(data);
    std::uint32_t id = 0;
    const char* job = nullptr;
    const char* unit = nullptr;
    const char* result = nullptr;
    if (sd_bus_message_read(message, "uoss", &id, &job, &unit, &result) >= 0 &&
        self->unit_ == unit && self->state_.job_result.empty()) {
      self->state_.job_result = result;
      if (self->state_.job_result != "done") {
        self->state_.ended = true;
      }
    }
    return 0;
  }

  Bus bus_;
  std::string unit_;
  std::string path_;
  UnitState state_;
};

UserManager::UserManager(std::unique_ptr<Connection> connection)
    : connection_(std::move(connection)) {}
UserManager::UserManager(UserManager&&) noexcept = default;
UserManager& UserManager::operator=(UserManager&&) noexcept = default;
UserManager::~UserManager() = default;

Result<UserManager> UserManager::Connect(uid_t uid) {
  Bus bus;
  MACO_ASSIGN(bus, OpenBus(uid));
  return UserManager(std::make_unique<Connection>(std::move(bus)));
}

Result<std::string> UserManager::Version() {
  BusError error;
  char* text = nullptr;
  const int result = sd_bus_get_property_string(connection_->bus(), kDestination, kManagerPath,
                                                kManagerInterface, "Version", error.get(), &text);
  if (result < 0) {
    return Fail(Code::kIo, "the user manager does not answer: " + error.Text(result));
  }
  std::string version = text;
  free(text);
  return version;
}

Result<void> UserManager::Start(const std::string& unit,
                                const std::vector<UnitProperty>& properties,
                                const std::string& program, int control) {
  MACO_TRY(connection_->Follow(unit));
  sd_bus_message* raw = nullptr;
  int result = sd_bus_message_new_method_call(connection_->bus(), &raw, kDestination, kManagerPath,
                                              kManagerInterface, "StartTransientUnit");
  const Message message(raw);
  result = result < 0 ? result : sd_bus_message_append(raw, "ss", unit.c_str(), "fail");
  result = result < 0 ? result : sd_bus_message_open_container(raw, 'a', "(sv)");
  for (const auto& property : properties) {
    result = result < 0 ? result : sd_bus_message_open_container(raw, 'r', "sv");
    result = result < 0 ? result : sd_bus_message_append(raw, "s", property.name.c_str());
    result = result < 0 ? result : std::visit(Append{raw}, property.value);
    result = result < 0 ? result : sd_bus_message_close_container(raw);
  }
  result = result < 0
               ? result
               : sd_bus_message_append(raw, "(sv)", "StandardInputFileDescriptor", "h", control);
  // no-env-expand: nothing in the arguments is rewritten.
  result = result < 0
               ? result
               : sd_bus_message_append(raw, "(sv)", "ExecStartEx", "a(sasas)", 1, program.c_str(),
                                       1, program.c_str(), 1, "no-env-expand");
  result = result < 0 ? result : sd_bus_message_close_container(raw);
  result = result < 0 ? result : sd_bus_message_append(raw, "a(sa(sv))", 0);
  if (result < 0) {
    return FailOs(-result, "compose the unit");
  }
  BusError error;
  sd_bus_message* reply = nullptr;
  result = sd_bus_call(connection_->bus(), raw, 0, error.get(), &reply);
  sd_bus_message_unref(reply);
  if (result < 0) {
    return Fail(Code::kRefused, "the user manager refused the unit: " + error.Text(result),
                "see 'git maco doctor'");
  }
  return {};
}

Result<Json> UserManager::ReadBack(const std::vector<UnitProperty>& wanted) {
  Json out = Json::object();
  for (const char* interface : {kServiceInterface, kUnitInterface}) {
    Message reply;
    MACO_ASSIGN(reply, connection_->GetAll(interface));
    bool good = true;
    const int result = ForEachProperty(reply.get(), [&](std::string_view name) {
      for (const auto& property : wanted) {
        if (property.name == name && property.read_back) {
          PropertyValue value;
          good = good && std::visit(Extract{reply.get(), value}, property.value);
          out[property.name] = ToJson(value);
          return true;
        }
      }
      return false;
    });
    if (result < 0 || !good) {
      return Fail(Code::kIo, "a property of the unit came back in another type than it was sent");
    }
  }
  return out;
}

Result<UserManager::Identity> UserManager::ReadIdentity() {
  Identity identity;
  int result = 0;
  Message service;
  MACO_ASSIGN(service, connection_->GetAll(kServiceInterface));
  result = ForEachProperty(service.get(), [&](std::string_view name) {
    if (name == "MainPID") {
      std::uint32_t pid = 0;
      sd_bus_message_read(service.get(), "v", "u", &pid);
      identity.main_pid = static_cast<pid_t>(pid);
      return true;
    }
    if (name == "ControlGroup") {
      identity.control_group = ReadText(service.get());
      return true;
    }
    return false;
  });
  Message unit;
  MACO_ASSIGN(unit, connection_->GetAll(kUnitInterface));
  result = result < 0 ? result : ForEachProperty(unit.get(), [&](std::string_view name) {
    if (name != "InvocationID") {
      return false;
    }
    const void* bytes = nullptr;
    std::size_t size = 0;
    if (sd_bus_message_enter_container(unit.get(), 'v', "ay") < 0 ||
        sd_bus_message_read_array(unit.get(), 'y', &bytes, &size) < 0 ||
        sd_bus_message_exit_container(unit.get()) < 0) {
      return false;
    }
    identity.invocation_id = ToHex({static_cast<const std::uint8_t*>(bytes), size});
    return true;
  });
  if (result < 0) {
    return FailOs(-result, "read the unit's identity");
  }
  return identity;
}

Result<void> UserManager::Stop() {
  sd_bus_message* raw = nullptr;
  int result = sd_bus_message_new_method_call(connection_->bus(), &raw, kDestination,
                                              connection_->path().c_str(), kUnitInterface, "Stop");
  const Message message(raw);
  result = result < 0 ? result : sd_bus_message_append(raw, "s", "replace");
  result = result < 0 ? result : sd_bus_send(connection_->bus(), raw, nullptr);
  if (result < 0) {
    return FailOs(-result, "ask the user manager to stop the unit");
  }
  return {};
}

Result<bool> UserManager::EndLeftover(const std::string& unit) {
  constexpr int kSteps = 300;
  constexpr useconds_t kStepMicros = 50'000;
  for (int step = 0; step < kSteps; ++step) {
    BusError error;
    const int result =
        sd_bus_call_method(connection_->bus(), kDestination, kManagerPath, kManagerInterface,
                           step == 0 ? "StopUnit" : "GetUnit", error.get(), nullptr,
                           step == 0 ? "ss" : "s", unit.c_str(), "replace");
    if (result < 0 && sd_bus_error_has_name(error.get(), "org.freedesktop.systemd1.NoSuchUnit")) {
      return step != 0;
    }
    if (result < 0) {
      return Fail(Code::kIo, "cannot end the unit '" + unit + "': " + error.Text(result));
    }
    usleep(kStepMicros);
  }
  return Fail(Code::kTimeout, "the unit '" + unit + "' does not end");
}

int UserManager::fd() const { return sd_bus_get_fd(connection_->bus()); }

short UserManager::events() const {
  const int events = sd_bus_get_events(connection_->bus());
  return static_cast<short>(events < 0 ? POLLIN : events);
}

void UserManager::Process() {
  for (;;) {
    const int result = sd_bus_process(connection_->bus(), nullptr);
    if (result < 0) {
      connection_->state().disconnected = true;
      return;
    }
    if (result == 0) {
      return;
    }
  }
}

const UnitState& UserManager::state() const { return connection_->state(); }

}  // namespace maco::run

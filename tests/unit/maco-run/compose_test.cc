// One spec in its three forms: the exact properties, the plan, and what the evidence says was
// asked. Contract under test: maco-run/spec/compose.h, docs/formats/evidence.md, "requested".
#include "maco-run/spec/compose.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/auth/mac.h"
#include "libcommon/base/text.h"

namespace maco::run {
namespace {

FileIdentity Identity(std::uint64_t device, std::uint64_t inode) {
  FileIdentity identity;
  identity.device = device;
  identity.inode = inode;
  return identity;
}

RunSpec SomeSpec() {
  RunSpec spec;
  spec.id = std::string(32, '0');
  spec.unit = "maco-run-" + spec.id + ".service";
  spec.profile = Profile::kOfflineWrite;
  spec.limits.memory_bytes = (64U << 20U) + 1;
  spec.limits.tasks = 10;
  spec.limits.cpu_percent = 150;
  spec.limits.open_files = 1024;
  spec.limits.file_bytes = 4096;
  spec.limits.timeout_seconds = 60;
  spec.command = {"sh", "-c", "a\xFF"};
  spec.directory = "/w/sub";
  spec.directory_identity = Identity(1, 2);
  spec.added_variables = {"A=1"};
  spec.environment = {"A=1", "PATH=/bin"};
  spec.roots.push_back({"/w", true, Directory(), Identity(1, 10), true});
  spec.roots.push_back({"/w/.git", false, Directory(), Identity(1, 11), false});
  spec.read_only_inside.push_back({"/w/.git", Identity(1, 11)});
  spec.read_only_inside.push_back({"/w/sub/.git", Identity(1, 12)});
  spec.masks.push_back({"/w/.git/maco", Identity(1, 20), false});
  spec.masks.push_back({"/run/dbus", Identity(2, 21), true});
  spec.private_directories.push_back({"/run", 4096, false, 0755});
  spec.private_directories.push_back({"/tmp", 8192, true, 01777});
  spec.binds.push_back({"/w", "/w", false, false});
  spec.read_only_binds.push_back({"/g", kGuardianInside, false, false});
  spec.guardian = "/g";
  spec.guardian_identity = Identity(3, 30);
  spec.probes = {{"bpf", 1}, {"socketpair-stream", 0}};
  spec.filter = {1, 2, 3};
  return spec;
}

Json PropertiesAsJson(const RunSpec& spec) {
  Json out = Json::object();
  for (const auto& property : ComposeProperties(spec)) {
    EXPECT_FALSE(out.contains(property.name)) << property.name << " is set twice";
    out[property.name] = ToJson(property.value);
  }
  return out;
}

// Whoever adds, drops or changes a property changes it here too, and says why in the log.
TEST(Compose, ThePropertiesOfAUnit) {
  const Json expected = {
      {"Description", "git maco run 00000000000000000000000000000000"},
      {"Type", "exec"},
      {"CollectMode", "inactive-or-failed"},
      {"KillMode", "control-group"},
      {"KillSignal", 9},
      {"OOMPolicy", "continue"},
      {"StandardOutput", "null"},
      {"StandardError", "null"},
      {"WorkingDirectory", "/"},
      {"UMask", 077},
      {"IgnoreSIGPIPE", false},
      {"PrivateUsers", true},
      {"NoNewPrivileges", true},
      {"PrivateDevices", true},
      {"PrivateNetwork", true},
      {"PrivateIPC", true},
      {"ProtectSystem", "strict"},
      {"ProtectControlGroups", true},
      {"ProtectKernelTunables", true},
      {"KeyringMode", "private"},
      {"MemoryMax", (64U << 20U) + 1},
      {"MemorySwapMax", 0},
      {"TasksMax", 10},
      {"CPUQuotaPerSecUSec", 1'500'000},
      {"LimitNOFILE", 1024},
      {"LimitCORE", 1},
      {"LimitSIGPENDING", 512},
      {"LimitFSIZE", 4096},
      {"RuntimeMaxUSec", 180'000'000},
      {"TimeoutStopUSec", 5'000'000},
      {"TemporaryFileSystem",
       {{{"path", "/run"}, {"options", "ro,size=4096,nr_inodes=4096,mode=0755"}},
        {{"path", "/tmp"}, {"options", "size=8192,nr_inodes=1048576,mode=1777"}}}},
      {"BindPaths", Json::array({{{"source", "/w"},
                                  {"target", "/w"},
                                  {"ignore_missing", false},
                                  {"recursive", false}}})},
      {"BindReadOnlyPaths", Json::array({{{"source", "/g"},
                                          {"target", kGuardianInside},
                                          {"ignore_missing", false},
                                          {"recursive", false}}})},
      {"ReadOnlyPaths", {"/w/.git", "/w/sub/.git"}},
      {"InaccessiblePaths", {"/w/.git/maco"}},
  };
  EXPECT_EQ(PropertiesAsJson(SomeSpec()), expected)
      << Json::diff(expected, PropertiesAsJson(SomeSpec())).dump(1);
}

TEST(Compose, NothingOfTheTargetIsInTheProperties) {
  // Unit properties are world-readable and rewritten by systemd; the command goes by memfd.
  RunSpec spec = SomeSpec();
  spec.command = {"secret-command"};
  spec.environment = {"SECRET=value"};
  const std::string text = PropertiesAsJson(spec).dump();
  EXPECT_EQ(text.find("secret-command"), std::string::npos);
  EXPECT_EQ(text.find("SECRET"), std::string::npos);
}

TEST(Compose, AnOmittedLayerIsLeftOut) {
  RunSpec spec = SomeSpec();
  const std::size_t all = ComposeProperties(spec).size();
  spec.omitted_properties = {"PrivateNetwork", "NoNewPrivileges"};
  EXPECT_EQ(PropertiesToSend(spec).size(), all - 2);
  // It is still asked for, so that what is missing is seen.
  EXPECT_EQ(ComposeProperties(spec).size(), all);
  EXPECT_TRUE(ComposeRequested(spec)["properties"].contains("PrivateNetwork"));
  EXPECT_EQ(ComposePlan(spec).steps, kAllGuardianSteps);
  spec.omitted_steps = static_cast<std::uint32_t>(GuardianStep::kFilter);
  EXPECT_FALSE(ComposePlan(spec).Does(GuardianStep::kFilter));
  EXPECT_TRUE(ComposePlan(spec).Does(GuardianStep::kNoNewPrivs));
}

TEST(Compose, ThePlanOfTheGuardian) {
  const RunSpec spec = SomeSpec();
  const LaunchPlan plan = ComposePlan(spec);
  EXPECT_EQ(plan.steps, kAllGuardianSteps);
  EXPECT_EQ(plan.arguments, spec.command);
  EXPECT_EQ(plan.environment, spec.environment);
  EXPECT_EQ(plan.directory, "/w/sub");
  EXPECT_EQ(plan.filter, spec.filter);
  EXPECT_EQ(plan.roots,
            (std::vector<std::string>{"/w", "/w/.git", "/w/sub/.git", kGuardianInside}));
  EXPECT_EQ(plan.masks, (std::vector<std::string>{"/w/.git/maco", "/run/dbus"}));
  EXPECT_EQ(plan.probes, (std::vector<std::string>{"bpf", "socketpair-stream"}));
  EXPECT_TRUE(DecodePlan(*EncodePlan(plan)).has_value());
}

TEST(Compose, WhatIsReportedIsWhatIsCompared) {
  const RunSpec spec = SomeSpec();
  const LaunchPlan plan = ComposePlan(spec);
  const Json requested = ComposeRequested(spec);
  EXPECT_EQ(plan.roots.size(), requested["roots"].size());
  for (const auto& path : plan.roots) {
    EXPECT_TRUE(requested["roots"].contains(path)) << path;
  }
  EXPECT_EQ(plan.masks.size(), requested["masks"].size());
  for (const auto& path : plan.masks) {
    EXPECT_TRUE(requested["masks"].contains(path)) << path;
  }
  EXPECT_EQ(requested["probes"].size(), plan.probes.size());
  // All but the description is read back.
  EXPECT_EQ(requested["properties"].size(), ComposeProperties(spec).size() - 1);
}

TEST(Compose, TheRequestOfTheEvidence) {
  const Json requested = ComposeRequested(SomeSpec());
  EXPECT_EQ(requested["profile"], "offline-write");
  EXPECT_EQ(requested["command"], (Json{"sh", "-c", {{"base64", "Yf8="}}}));
  EXPECT_EQ(requested["variables"], (Json{{"A", ToHex(Sha256(AsBytes("1")))}}));
  EXPECT_EQ(requested["directory"], (Json{{"path", "/w/sub"}, {"device", 1}, {"inode", 2}}));
  EXPECT_EQ(requested["roots"]["/w"], (Json{{"access", "rw"}, {"device", 1}, {"inode", 10}}));
  EXPECT_EQ(requested["roots"]["/w/sub/.git"],
            (Json{{"access", "ro"}, {"device", 1}, {"inode", 12}}));
  EXPECT_EQ(requested["roots"][kGuardianInside],
            (Json{{"access", "ro"}, {"device", 3}, {"inode", 30}}));
  EXPECT_EQ(requested["masks"]["/run/dbus"], (Json{{"device", 2}, {"inode", 21}}));
  EXPECT_EQ(requested["writable"], Json{"/w"});
  EXPECT_EQ(requested["filter_sha256"], ToHex(Sha256(Bytes{1, 2, 3})));
  EXPECT_EQ(requested["limits"], (Json{{"nofile", 1024},
                                       {"fsize", 4096},
                                       {"core", 1},
                                       {"sigpending", 512},
                                       {"inotify_instances", 64},
                                       {"inotify_watches", 8192},
                                       {"timeout_seconds", 60}}));
  EXPECT_TRUE(Canonicalize(requested).has_value());
}

TEST(Compose, CgroupFilesAsTheKernelShowsThem) {
  Limits limits;
  limits.memory_bytes = (64U << 20U) + 4095;
  limits.cpu_percent = 1;
  limits.tasks = 99;
  const std::map<std::string, std::string> expected{{"memory.max", "67108864"},
                                                    {"memory.swap.max", "0"},
                                                    {"memory.oom.group", "0"},
                                                    {"pids.max", "99"},
                                                    {"cpu.max", "1000 100000"}};
  EXPECT_EQ(ExpectedCgroupFiles(limits), expected);
}

TEST(Compose, OddBytesOfPathsStayJson) {
  RunSpec spec = SomeSpec();
  spec.masks.push_back({"/home/u\xFF/.ssh\n", Identity(1, 1), false});
  const Json requested = ComposeRequested(spec);
  EXPECT_TRUE(requested["masks"].contains("/home/u\\xff/.ssh\\x0a"));
  EXPECT_TRUE(Canonicalize(requested).has_value());
}

TEST(IsHarmlessDevice, KnowsExactlySix) {
  for (const char* path :
       {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}) {
    EXPECT_TRUE(IsHarmlessDevice(path)) << path;
  }
  for (const char* path : {"", "/dev", "/dev/", "/dev/tty1", "/dev/nul", "/dev/null/x", "/dev/kmsg",
                           "/dev/mem", "/dev/ptmx", "/dev/fuse", "dev/null"}) {
    EXPECT_FALSE(IsHarmlessDevice(path)) << path;
  }
}

}  // namespace
}  // namespace maco::run

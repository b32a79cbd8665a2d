// Confinement that is missing although inside and outside agree on everything: still refused.
// Contract under test: docs/formats/evidence.md, mount and mask rules, end of a run.
#include <gtest/gtest.h>

#include <functional>

#include "libcommon/base/text.h"
#include "maco-run/policy/profile.h"
#include "maco-run/record/judge.h"
#include "tests/unit/maco-run/evidence_vector.h"

namespace maco::run {
namespace {

constexpr Stage kBoth[] = {Stage::kGate, Stage::kEnd};

class Evidence {
 public:
  explicit Evidence(const std::string& name = "publishable") : document(EvidenceVector(name)) {}

  Json& Observed() { return document["observations"]; }
  Json& Inside() { return Observed()["inside"]; }
  Json& Outside() { return Observed()["outside"]; }
  Json& Requested() { return document["requested"]; }

  void AddMount(const std::string& line) {
    Inside()["mounts"].push_back(line);
    Outside()["mounts"].push_back(line);
  }

  // Of the mount that is on top at a mount point: the last one in the table.
  std::string LineAt(const std::string& point) {
    std::string found;
    for (const auto& line : Inside()["mounts"]) {
      const auto text = line.get<std::string>();
      found = Split(text, ' ')[4] == point ? text : found;
    }
    EXPECT_FALSE(found.empty()) << point;
    return found;
  }

  std::string Field(const std::string& point, std::size_t field) {
    return std::string(Split(LineAt(point), ' ').at(field));
  }

  // Replaces `from` by `to` in the line of the mount that is on top at `point`, on both sides.
  void ChangeMount(const std::string& point, const std::string& from, const std::string& to) {
    const std::string id = Field(point, 0) + " ";
    int changed = 0;
    for (Json* side : {&Inside(), &Outside()}) {
      for (auto& line : (*side)["mounts"]) {
        auto& text = line.get_ref<std::string&>();
        if (text.starts_with(id)) {
          const std::size_t at = text.find(from);
          ASSERT_NE(at, std::string::npos) << text;
          text.replace(at, from.size(), to);
          ++changed;
        }
      }
    }
    ASSERT_EQ(changed, 2) << point;
  }

  void ExpectOnly(Stage stage, const std::string& observation) {
    const auto reasons = Judge(document, stage);
    EXPECT_FALSE(reasons.empty());
    for (const auto& reason : reasons) {
      EXPECT_EQ(Observation(reason), observation) << Joined(reasons);
    }
  }
  // Both stages refuse, for this reason and no other.
  void ExpectRefused(const std::string& observation) {
    for (const Stage stage : kBoth) {
      ExpectOnly(stage, observation);
    }
  }
  // The gate cannot know; the end refuses, for this reason and no other.
  void ExpectUnproven(const std::string& observation) {
    EXPECT_TRUE(Judge(document, Stage::kGate).empty());
    ExpectOnly(Stage::kEnd, observation);
  }
  void ExpectPublishable() {
    for (const Stage stage : kBoth) {
      EXPECT_TRUE(Judge(document, stage).empty()) << Joined(Judge(document, stage));
    }
  }

  Json document;
};

TEST(JudgeMounts, AReadOnlyMountMadeWritable) {
  for (const char* point : {"/home/maco/work", "/home", "/run", "/sys", "/sys/fs/cgroup",
                            "/proc/sys", "/home/maco/work/.git/maco", "/run/maco/maco-guardian"}) {
    Evidence evidence;
    evidence.ChangeMount(point, " ro,", " rw,");
    // A file system that is read-only as a whole stays so.
    if (evidence.LineAt(point).find(" ro,/srv") == std::string::npos) {
      evidence.ExpectRefused("inside.mounts");
    }
  }
}

TEST(JudgeMounts, TheRootMadeWritable) {
  Evidence evidence;
  evidence.ChangeMount("/", " ro,", " rw,");
  evidence.ExpectRefused("inside.mounts");
}

TEST(JudgeMounts, ANewWritableMount) {
  const std::string tail = " rw,nosuid - ext4 /dev/sda1 rw";
  for (const char* point : {"/mnt", "/home/maco/work/sub", "/tmp/x", "/dev/pts/x", "/run/maco"}) {
    Evidence evidence;
    const std::string under = std::string(point).starts_with("/home") ? "/home/maco/work" : "/";
    std::string parent = evidence.Field(under, 0);
    for (const char* cover : {"/tmp", "/dev/pts", "/run"}) {
      if (std::string(point).starts_with(cover)) {
        parent = evidence.Field(cover, 0);
      }
    }
    evidence.AddMount("900 " + parent + " 8:1 / " + point + tail);
    evidence.ExpectRefused("inside.mounts");
  }
}

TEST(JudgeMounts, AWritableMountThatNothingReachesDoesNoHarm) {
  Evidence evidence;
  // Below the host's /dev, which the private one covers.
  evidence.AddMount("900 119 8:1 / /dev/old rw - ext4 /dev/sda1 rw");
  evidence.ExpectPublishable();
}

TEST(JudgeMounts, AHiddenMountThatComesToLight) {
  // Without the covers the host's own file systems are there again.
  for (const char* point : {"/dev", "/run", "/tmp", "/proc", "/dev/pts"}) {
    Evidence evidence;
    const std::string line = evidence.LineAt(point);
    const std::string id(Split(line, ' ')[0]);
    for (Json* side : {&evidence.Inside(), &evidence.Outside()}) {
      Json kept = Json::array();
      for (const auto& other : (*side)["mounts"]) {
        const auto text = other.get<std::string>();
        if (text != line && Split(text, ' ')[1] != id) {
          kept.push_back(other);
        }
      }
      (*side)["mounts"] = kept;
    }
    EXPECT_FALSE(Judge(evidence.document, Stage::kGate).empty()) << point;
  }
}

TEST(JudgeMounts, APrivateFileSystemThatIsTheHosts) {
  for (const char* point : {"/tmp", "/var/tmp", "/dev/shm"}) {
    Evidence evidence;
    evidence.ChangeMount(point, " " + evidence.Field(point, 2) + " ", " 0:21 ");
    evidence.ExpectRefused("inside.mounts");
  }
}

TEST(JudgeMounts, APrivateFileSystemThatIsNoTmpfsOrNotAllOfIt) {
  Evidence other_type;
  other_type.ChangeMount("/tmp", " - tmpfs tmpfs", " - ext4 /dev/sda1");
  other_type.ExpectRefused("inside.mounts");
  Evidence part;
  part.ChangeMount("/tmp", " / /tmp ", " /home /tmp ");
  part.ExpectRefused("inside.mounts");
}

// With the cover gone, what is below it is the host's, read-only, and nothing else may show it.
TEST(JudgeMounts, APrivateDirectoryWithoutItsCover) {
  for (const char* point : {"/home", "/root", "/run", "/tmp", "/var/tmp", "/dev/shm"}) {
    Evidence evidence;
    evidence.ChangeMount(point, std::string(" ") + point + " ", " /mnt ");
    EXPECT_FALSE(Judge(evidence.document, Stage::kGate).empty()) << point;
    Evidence host;
    host.ChangeMount(point, " " + host.Field(point, 2) + " ", " 0:21 ");
    EXPECT_FALSE(Judge(host.document, Stage::kGate).empty()) << point;
  }
}

TEST(JudgeMounts, APrivateDirectoryThatSomethingOfTheHostCovers) {
  Evidence evidence;
  evidence.AddMount("900 " + evidence.Field("/root", 0) + " 8:1 / /root ro - ext4 /dev/sda1 ro");
  evidence.ExpectRefused("inside.mounts");
}

TEST(JudgeMounts, APrivateDirectoryOfAnotherSizeOrAccess) {
  Evidence size;
  size.ChangeMount("/tmp", "size=1048576k", "size=1048580k");
  size.ExpectRefused("inside.mounts");
  Evidence access;
  access.ChangeMount("/tmp", " rw,", " ro,");
  access.ExpectRefused("inside.mounts");
  Evidence none;
  none.Requested()["private"]["/root"].erase("size");
  none.ExpectRefused("inside.mounts");
}

TEST(JudgeMounts, TheHostsTerminals) {
  Evidence evidence;
  evidence.ChangeMount("/dev/pts", " " + evidence.Field("/dev/pts", 2) + " ", " 0:28 ");
  evidence.ExpectRefused("inside.mounts");
}

TEST(JudgeMounts, TheHostsProcAndMessageQueues) {
  Evidence proc;
  proc.ChangeMount("/proc", " " + proc.Field("/proc", 2) + " ", " 0:14 ");
  proc.ExpectRefused("inside.mounts");
  Evidence queues;
  queues.ChangeMount("/dev/mqueue", " " + queues.Field("/dev/mqueue", 2) + " ", " 0:13 ");
  queues.ExpectRefused("inside.mounts");
}

TEST(JudgeMounts, AHarmlessNameOnAnotherDevice) {
  Evidence evidence;
  evidence.ChangeMount("/dev/null", " /null /dev/null ", " /sda /dev/null ");
  evidence.ExpectRefused("inside.mounts");
  Evidence whole;
  whole.ChangeMount("/dev/null", " /null /dev/null ", " / /dev/null ");
  whole.ExpectRefused("inside.mounts");
}

TEST(JudgeMounts, WithoutTheHostsDevicesNothingIsPrivate) {
  Evidence evidence;
  evidence.document["host"]["devices"] = Json::array();
  evidence.ExpectRefused("inside.mounts");
}

TEST(JudgeMounts, InsideAndOutsideAreTwoTables) {
  Evidence evidence;
  evidence.Outside()["mounts"].push_back("900 118 8:1 / /mnt ro - ext4 /dev/sda1 ro");
  evidence.ExpectRefused("inside.mounts");
  Evidence options;
  options.Inside()["mounts"][0] = "118 102 0:17 / / ro - overlay root ro";
  options.ExpectRefused("inside.mounts");
}

TEST(JudgeMounts, AnEmptyTableAndATableWithoutARoot) {
  Evidence evidence;
  evidence.Inside()["mounts"] = Json::array();
  evidence.Outside()["mounts"] = Json::array();
  evidence.ExpectRefused("inside.mounts");
  const Json only = Json::array({"5 4 0:9 / /tmp ro - tmpfs tmpfs ro"});
  evidence.Inside()["mounts"] = only;
  evidence.Outside()["mounts"] = only;
  evidence.ExpectRefused("inside.mounts");
}

TEST(JudgeRoots, AWriteGrantThatIsNoRoot) {
  Evidence evidence;
  evidence.Requested()["writable"].push_back("/sys");
  evidence.ChangeMount("/sys", " ro,", " rw,");
  evidence.ExpectRefused("inside.mounts");
}

TEST(JudgeRoots, AGrantedRootThatIsAnotherFile) {
  for (const char* member : {"device", "inode"}) {
    Evidence evidence("publishable-write");
    Json& root = evidence.Inside()["roots"]["/home/maco/lane"];
    root[member] = root[member].get<int>() + 1;
    evidence.ExpectRefused("inside.roots./home/maco/lane");
  }
  for (const char* path : {"/run/maco/result", "/run/maco/maco-guardian"}) {
    Evidence evidence;
    evidence.Inside()["roots"][path]["inode"] = 7;
    evidence.ExpectRefused(std::string("inside.roots.") + path);
  }
}

TEST(JudgeRoots, ARootThatIsMissingOrHasAnotherMode) {
  Evidence evidence("publishable-write");
  Json& roots = evidence.Inside()["roots"];
  roots["/home/maco/work/.git"]["access"] = "rw";
  evidence.ExpectRefused("inside.roots./home/maco/work/.git");
  roots["/home/maco/work/.git"] = {{"os_errno", 2}};
  evidence.ExpectRefused("inside.roots./home/maco/work/.git");
}

TEST(JudgeRoots, ARootThatWasNeverAskedFor) {
  Evidence evidence;
  evidence.Inside()["roots"]["/etc"] = {
      {"os_errno", 0}, {"device", 1}, {"inode", 2}, {"access", "ro"}};
  evidence.ExpectRefused("inside.roots./etc");
}

constexpr char kStateRoot[] = "/home/maco/work/.git/maco";

TEST(JudgeMasks, StillVisible) {
  Evidence evidence;
  Json seen = evidence.Requested()["masks"][kStateRoot];
  seen["os_errno"] = 0;
  for (const int open_errno : {0, 13}) {
    seen["open_errno"] = open_errno;
    evidence.Inside()["masks"][kStateRoot] = seen;
    evidence.ExpectRefused(std::string("inside.masks.") + kStateRoot);
  }
}

TEST(JudgeMasks, AnotherFileOfTheHostInItsPlace) {
  for (const int open_errno : {0, 13}) {
    Evidence evidence;
    evidence.Inside()["masks"][kStateRoot] = {
        {"os_errno", 0}, {"device", 17}, {"inode", 4711}, {"open_errno", open_errno}};
    evidence.ExpectRefused(std::string("inside.masks.") + kStateRoot);
  }
}

TEST(JudgeMasks, TheManagersNodeMustBeClosed) {
  Evidence evidence;
  for (const int open_errno : {0, 1, 2}) {
    evidence.Inside()["masks"][kStateRoot]["open_errno"] = open_errno;
    evidence.ExpectRefused(std::string("inside.masks.") + kStateRoot);
  }
}

TEST(JudgeMasks, AnErrnoThatSaysNothing) {
  for (const int os_errno : {1, 5, 40}) {  // EPERM, EIO, ELOOP
    Evidence evidence;
    evidence.Inside()["masks"][kStateRoot] = {{"os_errno", os_errno}};
    evidence.ExpectRefused(std::string("inside.masks.") + kStateRoot);
  }
}

TEST(JudgeMasks, OneThatAnEmptyPrivateFileSystemShows) {
  Evidence evidence;
  const std::string path = "/home/maco/.config";
  const std::string device(Split(evidence.Field("/home", 2), ':')[1]);
  evidence.Requested()["masks"][path] = {{"device", 17}, {"inode", 5}};
  Json& inside = evidence.Inside()["masks"][path];
  inside = {{"os_errno", 0}, {"device", std::stoul(device)}, {"inode", 6U}, {"open_errno", 0}};
  evidence.ExpectPublishable();
  // The same, but the file is not on the file system that covers the place.
  inside["device"] = std::stoul(device) + 1;
  evidence.ExpectRefused("inside.masks." + path);
  inside["device"] = std::stoul(device);
  inside["open_errno"] = 5;
  evidence.ExpectRefused("inside.masks." + path);
}

TEST(JudgeProcesses, TheHostsNamespaces) {
  for (const char* name : {"user", "mnt", "pid", "net", "ipc", "cgroup"}) {
    Evidence evidence;
    const Json host = evidence.document["host"]["namespaces"][name];
    evidence.Inside()["namespaces"][name] = host;
    evidence.Outside()["namespaces"][name] = host;
    evidence.ExpectRefused(std::string("inside.namespaces.") + name);
  }
}

TEST(JudgeProcesses, PrivilegeOnBothSides) {
  const std::vector<std::pair<std::string, std::string>> attacks{{"Seccomp", "0"},
                                                                 {"Seccomp", "1"},
                                                                 {"NoNewPrivs", "0"},
                                                                 {"CapEff", "0000000000000001"},
                                                                 {"CapInh", "0000000000000001"},
                                                                 {"CapPrm", "000001ffffffffff"},
                                                                 {"CapBnd", "0000000000000001"},
                                                                 {"CapAmb", "0000000000000001"}};
  for (const auto& [name, value] : attacks) {
    Evidence evidence;
    evidence.Inside()["status"][name] = value;
    evidence.Outside()["status"][name] = value;
    for (const Stage stage : kBoth) {
      const auto reasons = Judge(evidence.document, stage);
      ASSERT_EQ(reasons.size(), 2U) << Joined(reasons);
      EXPECT_EQ(Observation(reasons[0]), "inside.status." + name);
      EXPECT_EQ(Observation(reasons[1]), "outside.status." + name);
    }
  }
}

TEST(JudgeProcesses, AnotherUser) {
  Evidence evidence;
  const std::string other = "0\t0\t0\t0";
  evidence.Inside()["status"]["Uid"] = other;
  evidence.Outside()["status"]["Uid"] = other;
  EXPECT_EQ(Judge(evidence.document, Stage::kGate).size(), 2U);
  Evidence map;
  map.Outside()["uid_map"] = "         0          0 4294967295\n";
  map.ExpectRefused("outside.uid_map");
}

TEST(JudgeProcesses, OneMoreInTheCgroup) {
  Evidence evidence;
  evidence.Observed()["cgroup"]["processes"].push_back(4711);
  evidence.ExpectRefused("cgroup.processes");
}

TEST(JudgeProcesses, OneProcessInThreeRoles) {
  Evidence evidence;
  const Json pid = evidence.Outside()["pid"];
  evidence.Outside()["parent_pid"] = pid;
  evidence.Outside()["grandparent_pid"] = pid;
  evidence.Observed()["unit"]["main_pid"] = pid;
  for (const Json& listed : {Json::array({pid, 1, 2}), Json::array({pid, pid, pid})}) {
    evidence.Observed()["cgroup"]["processes"] = listed;
    EXPECT_FALSE(Judge(evidence.document, Stage::kGate).empty());
  }
}

TEST(JudgeProcesses, NotProcessTwoOfItsOwnNamespace) {
  Evidence evidence;
  const Json pid = evidence.Outside()["pid"];
  for (const Json& numbers : {Json::array({pid}), Json::array({pid, 3}), Json::array({pid, 2, 1}),
                              Json::array({1, 2}), Json::array(), Json()}) {
    evidence.Outside()["namespace_pids"] = numbers;
    evidence.ExpectRefused("outside.namespace_pids");
  }
}

TEST(JudgeProcesses, AReportOfAnotherProcess) {
  Evidence evidence;
  evidence.Outside()["report_sender"] = 1;
  evidence.ExpectRefused("outside.report_sender");
}

TEST(JudgeProcesses, NotTheMainProcessesGrandchild) {
  Evidence evidence;
  evidence.Observed()["unit"]["main_pid"] = 4711;
  evidence.ExpectOnly(Stage::kGate, "outside.grandparent_pid");
}

TEST(JudgeProcesses, AnotherInvocation) {
  Evidence evidence;
  evidence.Observed()["unit"]["invocation_id"] = std::string(32, '0');
  evidence.ExpectRefused("inside.invocation_id");
  evidence.Inside()["invocation_id"] = "";
  evidence.Observed()["unit"]["invocation_id"] = "";
  evidence.ExpectRefused("unit.invocation_id");
}

TEST(JudgeProcesses, AnotherCgroup) {
  Evidence evidence;
  evidence.Observed()["unit"]["control_group"] = "/user.slice/other.service";
  evidence.ExpectRefused("outside.cgroup");
  Evidence host;
  host.Inside()["cgroup"] = "0::/user.slice/user-1000.slice\n";
  host.ExpectRefused("inside.cgroup");
}

TEST(JudgeProcesses, AnotherDescriptor) {
  Evidence evidence;
  evidence.Inside()["descriptors"].push_back(3);
  evidence.ExpectRefused("inside.descriptors");
  Evidence fewer;
  fewer.Inside()["descriptors"] = {0, 1};
  fewer.ExpectRefused("inside.descriptors");
}

TEST(JudgeProcesses, NotPopulatedAtTheGate) {
  Evidence evidence;
  for (const char* population : {"populated 0", "removed"}) {
    evidence.Observed()["cgroup"]["populated"] = population;
    evidence.ExpectRefused("cgroup.populated");
  }
}

TEST(JudgeProbes, AnAttemptThatWorkedOrFailedOtherwise) {
  for (const int result : {0, 22, 38}) {  // EINVAL, ENOSYS: then it was not the filter
    Evidence evidence;
    evidence.Inside()["probes"]["socket-unix"] = result;
    evidence.ExpectRefused("inside.probes.socket-unix");
  }
  Evidence pair;
  pair.Inside()["probes"]["socketpair-stream"] = 1;
  pair.ExpectRefused("inside.probes.socketpair-stream");
}

TEST(JudgeProbes, OneMoreOrOneLess) {
  Evidence more;
  more.Inside()["probes"]["new"] = 0;
  more.ExpectRefused("inside.probes.new");
  Evidence less;
  less.Inside()["probes"].erase("bpf");
  less.ExpectRefused("inside.probes.bpf");
}

TEST(JudgeProperties, MissingOtherAndMore) {
  Evidence missing;
  missing.Observed()["properties"].erase("NoNewPrivileges");
  missing.ExpectRefused("properties.NoNewPrivileges");
  Evidence other;
  other.Observed()["properties"]["PrivateNetwork"] = false;
  other.ExpectRefused("properties.PrivateNetwork");
  Evidence more;
  more.Observed()["properties"]["AmbientCapabilities"] = 1;
  more.ExpectRefused("properties.AmbientCapabilities");
}

TEST(JudgeProperties, CgroupFilesHoldTheLimits) {
  Evidence evidence;
  evidence.Observed()["cgroup"]["files"]["memory.max"] = "max";
  evidence.ExpectRefused("cgroup.files.memory.max");
  Evidence missing;
  missing.Observed()["cgroup"]["files"].erase("pids.max");
  missing.ExpectRefused("cgroup.files.pids.max");
}

TEST(JudgeProperties, ResourceLimitsOnBothEnds) {
  for (const char* kind : {"soft", "hard"}) {
    Evidence evidence;
    evidence.Inside()["limits"]["core"][kind] = 2;
    evidence.ExpectRefused(std::string("inside.limits.core.") + kind);
    for (const char* name : {"sigpending", "inotify_instances", "inotify_watches"}) {
      Evidence more;
      more.Inside()["limits"][name][kind] = 1'000'000;
      more.ExpectRefused(std::string("inside.limits.") + name + "." + kind);
    }
  }
}

// A handler of core dumps is started outside for any limit but 1, also if it was asked for.
TEST(JudgeProperties, ACoreLimitThatStartsAHandler) {
  Evidence evidence;
  evidence.Requested()["limits"]["core"] = 0;
  for (const char* kind : {"soft", "hard"}) {
    evidence.Inside()["limits"]["core"][kind] = 0;
  }
  evidence.ExpectRefused("inside.limits.core.soft");
}

TEST(JudgeRequest, AnotherSchemaOrProfile) {
  Evidence schema;
  schema.document["schema"] = "maco.evidence/2";
  schema.ExpectRefused("schema");
  for (const char* profile : {"", "offline", "provider"}) {
    Evidence evidence;
    evidence.Requested()["profile"] = profile;
    evidence.ExpectRefused("requested.profile");
  }
}

TEST(JudgeRequest, EveryProfileOfACallerIsKnown) {
  for (const Profile profile :
       {Profile::kOfflineRead, Profile::kOfflineWrite, Profile::kDiagnostic}) {
    Evidence evidence;
    evidence.Requested()["profile"] = ProfileName(profile);
    EXPECT_TRUE(Judge(evidence.document, Stage::kGate).empty()) << ProfileName(profile);
  }
}

TEST(JudgeRequest, ADirtyTree) {
  for (const char* scan : {"before_set_up", "before_release"}) {
    Evidence evidence;
    evidence.Observed()["scan"][scan] = "a FIFO";
    evidence.ExpectRefused(std::string("scan.") + scan);
  }
}

TEST(JudgeEnd, ReleasedWithoutADurableRecord) {
  Evidence evidence;
  for (const Json& record : {Json(0), Json(1), Json(3), Json("2"), Json()}) {
    evidence.Observed()["release"]["started_record"] = record;
    evidence.ExpectUnproven("release.started_record");
  }
  // The greatest number that there is has none after it.
  evidence.document["planned_record"] = 18446744073709551615U;
  evidence.Observed()["release"]["started_record"] = 0U;
  evidence.ExpectUnproven("release.started_record");
}

TEST(JudgeEnd, NotEndedByItself) {
  for (const char* by : {"timeout", "signal to maco-run", "memory limit", "loss of the guardian"}) {
    Evidence evidence;
    evidence.document["outcome"]["ended_by"] = by;
    evidence.ExpectUnproven("outcome.ended_by");
  }
}

TEST(JudgeEnd, AnotherStatusIsPublishableToo) {
  Evidence evidence;
  evidence.Observed()["end"]["target"]["wait_status"] = 3U << 8U;
  evidence.document["outcome"]["target"] = {{"exited", 3}};
  evidence.ExpectPublishable();
  for (const unsigned raw : {9U, 11U | 0x80U}) {  // with and without a core
    evidence.Observed()["end"]["target"]["wait_status"] = raw;
    evidence.document["outcome"]["target"] = {{"signaled", raw & 0x7FU}};
    evidence.ExpectPublishable();
  }
}

TEST(JudgeEnd, AnOutcomeThatContradictsTheStatus) {
  Evidence evidence;
  for (const Json& outcome : {Json{{"exited", 1}}, Json{{"signaled", 0}}, Json{{"signaled", 9}},
                              Json::object(), Json()}) {
    evidence.document["outcome"]["target"] = outcome;
    evidence.ExpectUnproven("end.target.wait_status");
  }
}

TEST(JudgeEnd, AStatusOfAProcessThatHasNotEnded) {
  Evidence evidence;
  // Stopped, continued, bits that wait(2) never sets.
  const std::vector<std::pair<unsigned, Json>> statuses{
      {0x137F, {{"signaled", 127}}}, {0x007F, {{"signaled", 127}}}, {0x0080, {{"exited", 0}}},
      {0x0109, {{"signaled", 9}}},   {0x10000, {{"exited", 0}}},    {0xFFFF, {{"signaled", 127}}}};
  for (const auto& [status, outcome] : statuses) {
    evidence.Observed()["end"]["target"]["wait_status"] = status;
    evidence.document["outcome"]["target"] = outcome;
    evidence.ExpectUnproven("end.target.wait_status");
  }
}

TEST(JudgeEnd, AProcessTreeThatIsNotEmpty) {
  Evidence populated;
  populated.Observed()["end"]["cgroup"] = "populated 1";
  populated.ExpectUnproven("end.cgroup");
  Evidence two;
  two.Observed()["end"]["processes_before_leave"].push_back(4711);
  two.ExpectUnproven("end.processes_before_leave");
  Evidence other;
  other.Observed()["end"]["processes_before_leave"] = {4711};
  other.ExpectUnproven("end.processes_before_leave");
  Evidence none;
  none.Observed()["end"]["processes_before_leave"] = Json::array();
  none.ExpectUnproven("end.processes_before_leave");
  Evidence emptied;
  emptied.Observed()["end"]["cgroup"] = "populated 0";
  emptied.ExpectPublishable();
}

TEST(JudgeEnd, AUnitThatDidNotEndWell) {
  const std::vector<std::pair<std::string, Json>> attacks{{"active_state", "failed"},
                                                          {"active_state", "active"},
                                                          {"result", "oom-kill"},
                                                          {"exec_main_code", 2},
                                                          {"exec_main_status", 88}};
  for (const auto& [member, value] : attacks) {
    Evidence evidence;
    evidence.Observed()["end"]["unit"][member] = value;
    evidence.ExpectUnproven("end.unit." + member);
  }
}

TEST(JudgeEnd, AResultFileThatWasReplacedOrShared) {
  const std::vector<std::pair<std::string, Json>> attacks{{"links", 2},
                                                          {"links", 0},
                                                          {"mode", 0100644},
                                                          {"mode", 0120600},
                                                          {"name_leads_to_it", false},
                                                          {"inode", 4711},
                                                          {"device", 4711}};
  for (const auto& [member, value] : attacks) {
    Evidence evidence;
    evidence.Observed()["end"]["result"][member] = value;
    evidence.ExpectUnproven("end.result." + member);
  }
}

TEST(JudgeEnd, AResultLargerThanItsLimit) {
  Evidence evidence;
  evidence.Observed()["end"]["result"]["within_limit"] = false;
  evidence.ExpectUnproven("end.result.within_limit");
}

// JRN-10: whoever made a key can sign with it. Only a run that could write can have made one.
TEST(JudgeEnd, AStateRootThatTheRunMade) {
  Evidence evidence("publishable-write");
  evidence.Observed()["end"]["new_state_roots"] = 1;
  evidence.ExpectUnproven("end.new_state_roots");
  EXPECT_FALSE(FactsProven(Judge(evidence.document, Stage::kEnd)));
  Evidence missing("publishable-write");
  missing.Observed()["end"].erase("new_state_roots");
  missing.ExpectUnproven("end.new_state_roots");
  Evidence blind("publishable-write");
  blind.Observed()["end"]["new_state_roots"] = kNotLookedAt;
  EXPECT_TRUE(Judge(blind.document, Stage::kEnd).empty()) << "it is told in the measurements";
}

TEST(JudgeEnd, ACommandThatWasNotExecuted) {
  Evidence evidence;
  evidence.document["outcome"]["exec_errno"] = 2;
  evidence.ExpectUnproven("outcome.exec_errno");
}

TEST(JudgeEnd, FactsAreProvenWhateverTheCommandDid) {
  EXPECT_TRUE(FactsProven({}));
  EXPECT_TRUE(FactsProven({"outcome.ended_by: the run was ended by timeout",
                           "requested.profile: a diagnostic run is never publishable"}));
  for (const char* reason :
       {"end.cgroup: x", "inside.mounts: x", "schema: x", "outcomes: x", "requestedx: x", ""}) {
    EXPECT_FALSE(FactsProven({"outcome.ended_by: x", reason})) << reason;
  }
}

TEST(JudgeEnd, AResultThatWasNeverAskedFor) {
  Evidence evidence("publishable-write");
  evidence.Observed()["end"]["result"] =
      EvidenceVector("publishable")["observations"]["end"]["result"];
  evidence.ExpectUnproven("end.result");
}

}  // namespace
}  // namespace maco::run

// What people see of an error: one line on standard error, whatever is in its text.
// Contract under test: libcommon/base/report.h.
#include "libcommon/base/report.h"

#include <gtest/gtest.h>

namespace maco {
namespace {

TEST(Report, IsOneEscapedLine) {
  testing::internal::CaptureStderr();
  Report("tool", MakeError(Code::kInvalid, "name 'a\nb\x1B[2J\xFF' is wrong", "choose another"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "tool: name 'a\\x0ab\\x1b[2J\\xff' is wrong; choose another\n");
}

TEST(Note, IsTheSameForm) {
  testing::internal::CaptureStderr();
  Note("git maco", "done\r");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "git maco: done\\x0d\n");
}

}  // namespace
}  // namespace maco

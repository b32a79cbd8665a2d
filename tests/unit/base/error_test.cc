// Errors: codes that follow from an errno, the text that people read, and the macros that hand them
// on. Contract under test: libcommon/base/error.h, libcommon/base/result.h.
#include "libcommon/base/error.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <set>

#include "libcommon/base/result.h"

namespace maco {
namespace {

TEST(Error, CodeFollowsFromTheErrno) {
  EXPECT_EQ(OsError(ENOENT, "open").code, Code::kNotFound);
  EXPECT_EQ(OsError(EEXIST, "open").code, Code::kExists);
  for (const int os_errno : {EACCES, EPERM}) {
    EXPECT_EQ(OsError(os_errno, "open").code, Code::kPermission);
  }
  for (const int os_errno : {ENOSPC, EDQUOT, EMFILE, ENFILE, ENOMEM}) {
    EXPECT_EQ(OsError(os_errno, "open").code, Code::kLimit);
  }
  for (const int os_errno : {EIO, ELOOP, EXDEV, ENOTDIR, EPIPE, 0, 12345}) {
    EXPECT_EQ(OsError(os_errno, "open").code, Code::kIo);
  }
}

TEST(Error, TextNamesTheSubjectAndTheReason) {
  const Error error = OsError(ENOENT, "open", "a b");
  EXPECT_EQ(error.message, "open 'a b': No such file or directory");
  EXPECT_EQ(error.os_errno, ENOENT);
  EXPECT_EQ(Describe(error), error.message);
  EXPECT_EQ(OsError(EPIPE, "write").message, "write: Broken pipe");
}

TEST(Error, DescribeAddsTheRemedy) {
  EXPECT_EQ(Describe(MakeError(Code::kBusy, "it is locked", "wait")), "it is locked; wait");
  EXPECT_EQ(Describe(MakeError(Code::kBusy, "it is locked")), "it is locked");
  EXPECT_EQ(MakeError(Code::kBusy, "x").os_errno, 0);
}

TEST(Error, EachCodeHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (int code = static_cast<int>(Code::kUsage); code <= static_cast<int>(Code::kInternal);
       ++code) {
    names.insert(CodeName(static_cast<Code>(code)));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(Code::kInternal) + 1);
}

Result<int> Half(int number) {
  if (number % 2 != 0) {
    return Fail(Code::kInvalid, "odd");
  }
  return number / 2;
}

Result<void> Check(int number) {
  MACO_TRY(Half(number));
  return {};
}

Result<int> Quarter(int number) {
  int half = 0;
  int quarter = 0;
  MACO_ASSIGN(half, Half(number));
  MACO_ASSIGN(quarter, Half(half));
  return quarter;
}

Result<std::unique_ptr<int>> Owned() {
  std::unique_ptr<int> out;
  MACO_ASSIGN(out, Result<std::unique_ptr<int>>(std::make_unique<int>(3)));
  return out;
}

TEST(Result, MacrosHandErrorsUpAndValuesOn) {
  EXPECT_TRUE(Check(2).has_value());
  EXPECT_EQ(Check(1).error().code, Code::kInvalid);
  EXPECT_EQ(Quarter(8), 2);
  EXPECT_EQ(Quarter(6).error().message, "odd");
  EXPECT_EQ(Quarter(3).error().message, "odd");
  EXPECT_EQ(**Owned(), 3);
}

}  // namespace
}  // namespace maco

// Result<T>: a value or an Error, and the two macros that hand errors up.
// Every function that returns one lists its codes; nothing of ours throws across a file.
#pragma once
#include <tl/expected.hpp>
#include <utility>

#include "libcommon/base/error.h"

namespace maco {

template <typename T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> Fail(Error error) { return tl::make_unexpected(std::move(error)); }

inline tl::unexpected<Error> Fail(Code code, std::string message, std::string remedy = {}) {
  return tl::make_unexpected(MakeError(code, std::move(message), std::move(remedy)));
}

inline tl::unexpected<Error> FailOs(int os_errno, std::string_view what,
                                    std::string_view subject = {}) {
  return tl::make_unexpected(OsError(os_errno, what, subject));
}

}  // namespace maco

#define MACO_CONCAT_INNER(a, b) a##b
#define MACO_CONCAT(a, b) MACO_CONCAT_INNER(a, b)

// MACO_TRY(expression): returns the error of a Result whose value is not needed.
#define MACO_TRY(expression)                                   \
  do {                                                         \
    auto maco_try_result = (expression);                       \
    if (!maco_try_result) {                                    \
      return ::maco::Fail(std::move(maco_try_result).error()); \
    }                                                          \
  } while (false)

// MACO_ASSIGN(target, expression): assigns the value, or returns the error.
#define MACO_ASSIGN(target, expression) \
  MACO_ASSIGN_INNER(MACO_CONCAT(maco_assign_result_, __LINE__), target, expression)
#define MACO_ASSIGN_INNER(result, target, expression) \
  auto result = (expression);                         \
  if (!result) {                                      \
    return ::maco::Fail(std::move(result).error());   \
  }                                                   \
  target = *std::move(result)

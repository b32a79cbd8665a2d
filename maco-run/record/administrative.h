// The Git administrative files that can run code or change what git does: config, hooks, info.
// Compared before and after a run; a difference is reported, not judged (ADM-01).
#pragma once
#include <map>
#include <string>

#include "libcommon/auth/json.h"
#include "libcommon/os/directory.h"

namespace maco::run {

// SHA-256 by name relative to the common directory; "unreadable" where a file could not be read.
// Bounds: 512 names, 1 MiB a file.
using AdministrativeFiles = std::map<std::string, std::string>;
AdministrativeFiles DigestAdministrativeFiles(const Directory& common_dir);

// The names that differ, sorted.
Json ChangedFiles(const AdministrativeFiles& before, const AdministrativeFiles& after);

}  // namespace maco::run

// Property values as JSON.
// Contract: maco-run/unit/property.h.
#include "maco-run/unit/property.h"

#include "libcommon/base/text.h"

namespace maco::run {
namespace {

struct Visitor {
  Json operator()(bool value) const { return value; }
  Json operator()(std::int32_t value) const { return value; }
  Json operator()(std::uint32_t value) const { return value; }
  Json operator()(std::uint64_t value) const { return value; }
  Json operator()(const std::string& value) const { return EscapeControl(value); }
  Json operator()(const std::vector<std::string>& value) const {
    Json out = Json::array();
    for (const auto& text : value) {
      out.push_back(EscapeControl(text));
    }
    return out;
  }
  Json operator()(const std::vector<BindMount>& value) const {
    Json out = Json::array();
    for (const auto& bind : value) {
      out.push_back({{"source", EscapeControl(bind.source)},
                     {"target", EscapeControl(bind.target)},
                     {"ignore_missing", bind.ignore_missing},
                     {"recursive", bind.recursive}});
    }
    return out;
  }
  Json operator()(const std::vector<TmpfsMount>& value) const {
    Json out = Json::array();
    for (const auto& mount : value) {
      out.push_back({{"path", EscapeControl(mount.path)}, {"options", mount.options}});
    }
    return out;
  }
};

}  // namespace

Json ToJson(const PropertyValue& value) { return std::visit(Visitor{}, value); }

}  // namespace maco::run

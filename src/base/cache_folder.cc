#include <cstdlib>

#include "mete/device.h"

namespace mete {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

std::string CacheFolder() {
  if (const std::string own = Variable("METE_CACHE"); !own.empty()) return own;
  // The XDG base directory specification says that a relative path counts as not set.
  if (const std::string all = Variable("XDG_CACHE_HOME"); all.starts_with('/')) return all + "/mete";
  const std::string home = Variable("HOME");
  return home.empty() ? "" : home + "/.cache/mete";
}

}  // namespace mete

#include "network/discovery/avahi.h"

#include <algorithm>

#include "base/error.h"

namespace mete {
namespace {

constexpr size_t kLongestName = 63;  // bytes of a service's name (RFC 6763, 4.1.1)

}  // namespace

std::string AvahiProgram(const std::string& name) {
  const std::string path = FindProgram(name);
  if (path.empty())
    Fail(Code::kUnavailable, name,
         "the program is not in PATH; try 'apt install avahi-utils avahi-daemon', or write a devices file");
  return path;
}

void FailOfAvahi(const std::string& path, const std::string& said) {
  const std::string line = LastLine(said);
  // a name that another host has is no error: Avahi then takes another name by itself
  const bool is_taken = line.find("collision") != line.npos;
  const char* way_out = is_taken ? "another name: a service of this host has it"
                                 : "'systemctl start avahi-daemon', or write a devices file";
  Fail(Code::kUnavailable, path, "Avahi does not do it; got '{}'; try {}", line, way_out);
}

bool IsPrintable(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

bool IsServiceName(const std::string& text) {
  return !text.empty() && text.size() <= kLongestName && IsPrintable(text);
}

}  // namespace mete

#include "base/error.h"
#include "base/json.h"
#include "costs/network_link.h"

namespace mete {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "mete link 1";
constexpr size_t kMostBytes = 1 << 12;  // guess: some ten times what a link takes

struct Key {
  const char* name;
  double NetworkLink::*figure;
};
constexpr Key kKeys[] = {{"connect_ms", &NetworkLink::connect_ms},
                         {"round_trip_ms", &NetworkLink::round_trip_ms},
                         {"up_mbit_per_s", &NetworkLink::up_mbit_per_s},
                         {"down_mbit_per_s", &NetworkLink::down_mbit_per_s},
                         {"first_window_bytes", &NetworkLink::first_window_bytes},
                         {"late_ratio", &NetworkLink::late_ratio}};

NetworkLink LinkFrom(const Json& j, const std::string& where) {
  if (Object(j, where, "the link").at("format") != kFormat)
    Invalid(where, "the format is wrong; got {}, expected '{}'", JsonText(j.at("format"), -1).substr(0, 100),
            kFormat);
  NetworkLink link;
  for (const Key& key : kKeys) link.*key.figure = j.at(key.name);
  return link;
}

}  // namespace

std::string ToJson(const NetworkLink& link) {
  Json j{{"format", kFormat}};
  for (const Key& key : kKeys) j[key.name] = link.*key.figure;
  return JsonText(j, 1);
}

NetworkLink NetworkLinkFromJson(const std::string& text, const std::string& where) {
  if (text.size() > kMostBytes)
    Invalid(where, "too large; got {} bytes, expected at most {}", text.size(), kMostBytes);
  try {
    const NetworkLink link = LinkFrom(ParseJson(text, where), where);
    Verify(link, where);
    return link;
  } catch (const Json::exception& e) {
    Invalid(where, "no link: {}; try to delete the file", ReasonOf(e));
  }
}

}  // namespace mete

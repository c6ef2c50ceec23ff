// Finds and announces workers on the local network by mDNS. The work is done by Avahi's own programs (package
// avahi-utils), which must be in PATH. No other part of Mete depends on discovery; a devices file that a user
// writes says the same.
//
// Any host on the network may announce a service. The text that is found is bounded in size and printable,
// but it proves nothing: a worker proves who it is by a certificate or a token.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"

namespace mete {

inline constexpr const char* kServiceType = "_mete._tcp";

struct FoundDevice {
  std::string name;  // 1 to 63 printable ASCII characters
  std::string host;  // e.g. "pi-1.local"
  // the IPv4 address where the device has one; a link-local IPv6 address has its interface, "fe80::1%eth0"
  std::string address;
  int port = 0;
  std::string version;  // of the device's Mete; empty where the announcement has none
  int cores = 0;        // 0: the announcement has none
};

// Returns "192.168.1.20:5130" or "[fd00::1]:5130".
std::string Endpoint(const FoundDevice& device);

// Returns every service once, in the order of the names. Takes about a second, `timeout` of the clock at the
// longest: the result has what was found until then. Error UNAVAILABLE where Avahi is not installed or does
// not run.
std::vector<FoundDevice> FindDevices(std::chrono::milliseconds timeout, Clock& clock = Clock::Steady());

// Parses the lines of avahi-browse -p for FindDevices(). Lines that do not parse are left out.
std::vector<FoundDevice> ParseBrowse(const std::string& text);

class Child;

// Announces a worker on the network for as long as the object lives. The process that does this is killed
// when the thread that made the object ends, so that no process is left behind; therefore the object must be
// made on a thread that lives as long as the worker.
class Announcement {
 public:
  // `name`: 1 to 63 printable ASCII characters; if another host has the name, Avahi adds a number. `records`:
  // e.g. version and cores, keys and values printable, 255 characters together. Returns when Avahi has
  // confirmed, or after two seconds of the clock without an answer. Error INVALID_ARGUMENT; UNAVAILABLE where
  // Avahi is missing or another service of this host has the name.
  Announcement(const std::string& name, int port, const std::map<std::string, std::string>& records,
               Clock& clock = Clock::Steady());
  ~Announcement();
  Announcement(const Announcement&) = delete;
  Announcement& operator=(const Announcement&) = delete;

  bool alive() const;  // false after Avahi's daemon has ended

 private:
  std::unique_ptr<Child> child_;
};

}  // namespace mete

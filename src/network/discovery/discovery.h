// Workers on the local network, by mDNS, where the system's Avahi is there: through Avahi's own programs
// (package avahi-utils), which must be in PATH. Nothing else depends on it; a devices file says the same by
// hand.
//
// What is found was said by whoever is on the network. It is bounded and printable, and else nobody's word:
// who a worker is, is for certificates or a token to say.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace mete {

inline constexpr const char* kServiceType = "_mete._tcp";

struct FoundDevice {
  std::string name;  // 1 to 63 printable ASCII characters
  std::string host;  // e.g. "pi-1.local"
  // IPv4 where it has one; of a link-local IPv6 address with its interface, "fe80::1%eth0"
  std::string address;
  int port = 0;
  std::string version;  // of its Mete; empty where it is not told
  int cores = 0;        // 0: not told
};

// "192.168.1.20:5130", "[fd00::1]:5130"
std::string Endpoint(const FoundDevice& device);

// Every service once, by name. Takes about a second, `timeout` at the longest: what was found until then is
// what there is. Error UNAVAILABLE where Avahi is not there.
std::vector<FoundDevice> FindDevices(std::chrono::milliseconds timeout);

// What FindDevices() makes of avahi-browse's lines (-p); lines that it does not understand are left out.
std::vector<FoundDevice> ParseBrowse(const std::string& text);

class Child;

// Tells the network of a worker for as long as the object lives. The process that does so dies with the
// thread that made the object, so that none is left behind; make it on a thread that lives as long as the
// worker does.
class Announcement {
 public:
  // `name`: 1 to 63 printable ASCII characters; where another host has it, Avahi adds a number. `records`:
  // e.g. version and cores, keys and values printable, 255 characters together. Returns when Avahi has
  // confirmed, or after two seconds without an answer. Error INVALID_ARGUMENT; UNAVAILABLE where Avahi is not
  // there, or a service of this host has the name.
  Announcement(const std::string& name, int port, const std::map<std::string, std::string>& records);
  ~Announcement();
  Announcement(const Announcement&) = delete;
  Announcement& operator=(const Announcement&) = delete;

  bool alive() const;  // false after Avahi's daemon went away

 private:
  std::unique_ptr<Child> child_;
};

}  // namespace mete

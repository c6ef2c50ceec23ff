// Parses the lines of avahi-browse -p, as avahi-utils/avahi-browse.c writes them:
//
//     =;eth0;IPv4;pi\0321;_mete._tcp;local;pi-1.local;192.168.1.20;5130;"version=0.1.0" "cores=6"
//
// In the name, a dot and a backslash have a `\` before them, and most other special bytes are `\DDD`, the
// byte's decimal number. In a record, a quote has a `\` before it.
#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <tuple>

#include "base/error.h"
#include "network/discovery/avahi.h"
#include "network/discovery/discovery.h"

namespace mete {
namespace {

constexpr size_t kMostOutput = 1 << 20;  // bytes; the line of one device has 150
// This value is a guess: a datagram of mDNS has 9000 bytes at most, one of Mete less than 500.
constexpr size_t kLongestLine = 4096;
constexpr size_t kMostDevices = 1000;   // guess, as in devices files
constexpr size_t kLongestHost = 255;    // RFC 1035
constexpr size_t kLongestVersion = 32;  // guess: "0.1.0" and a commit hash
constexpr int kMostCores = 8192;        // the largest number that Linux can be built for on x86-64 (NR_CPUS)

// Parses the 3 decimal digits at the front as the number of a byte; nullopt where there is no such number.
std::optional<char> ByteOf(std::string_view digits) {
  int value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + std::min<size_t>(digits.size(), 3), value);
  if (error != std::errc() || end != digits.data() + 3 || value < 0 || value > 255) return std::nullopt;
  return char(value);
}

// Removes the character at the front of `text` and returns it without its escape.
char TakeCharacter(std::string_view& text) {
  const char c = text.front();
  text.remove_prefix(1);
  if (c != '\\' || text.empty()) return c;
  if (const auto byte = ByteOf(text)) {
    text.remove_prefix(3);
    return *byte;
  }
  const char escaped = text.front();
  text.remove_prefix(1);
  return escaped;
}

std::string Unescaped(std::string_view text) {
  std::string plain;
  while (!text.empty()) plain += TakeCharacter(text);
  return plain;
}

// Returns the texts between quotes without their escapes.
std::vector<std::string> Records(std::string_view text) {
  std::vector<std::string> records;
  for (size_t quote = text.find('"'); quote != text.npos; quote = text.find('"')) {
    text.remove_prefix(quote + 1);
    records.emplace_back();
    while (!text.empty() && text.front() != '"') records.back() += TakeCharacter(text);
    if (!text.empty()) text.remove_prefix(1);
  }
  return records;
}

// Returns the whole number in `text` if it is between `least` and `most`, else `otherwise`.
int NumberOr(std::string_view text, int least, int most, int otherwise) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= least && value <= most
             ? value
             : otherwise;
}

bool IsHost(std::string_view host) {
  return !host.empty() && host.size() <= kLongestHost && std::all_of(host.begin(), host.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_';
  });
}

// Returns the address, with the interface if the address is link-local; "" where `text` is no address.
std::string AddressOf(const std::string& text, std::string_view interface) {
  in6_addr v6;
  in_addr v4;
  if (inet_pton(AF_INET, text.c_str(), &v4) == 1) return text;
  if (inet_pton(AF_INET6, text.c_str(), &v6) != 1) return "";
  if (!IN6_IS_ADDR_LINKLOCAL(&v6)) return text;
  return IsHost(interface) ? text + "%" + std::string(interface) : "";
}

void ReadRecord(const std::string& record, FoundDevice& device) {
  const size_t equals = record.find('=');
  if (equals == record.npos) return;
  const std::string key = record.substr(0, equals), value = record.substr(equals + 1);
  if (key == "version" && value.size() <= kLongestVersion && IsPrintable(value)) device.version = value;
  if (key == "cores") device.cores = NumberOr(value, 1, kMostCores, 0);
}

// Splits off the first nine fields; the tenth field is the rest of the line. Returns false where the line has
// fewer fields.
bool SplitFields(std::string_view line, std::array<std::string_view, 10>& fields) {
  for (size_t i = 0; i < 9; ++i) {
    const size_t end = line.find(';');
    if (end == line.npos) return false;
    fields[i] = line.substr(0, end);
    line.remove_prefix(end + 1);
  }
  fields[9] = line;
  return true;
}

std::optional<FoundDevice> ParseLine(std::string_view line) {
  std::array<std::string_view, 10> f;
  if (line.size() > kLongestLine || !SplitFields(line, f) || f[0] != "=" || f[4] != kServiceType ||
      !IsHost(f[6]))
    return std::nullopt;
  FoundDevice device{
      .name = Unescaped(f[3]), .host = std::string(f[6]), .address = AddressOf(std::string(f[7]), f[1])};
  device.port = NumberOr(f[8], 1, 65535, 0);
  if (!IsServiceName(device.name) || device.address.empty() || device.port == 0) return std::nullopt;
  for (const std::string& record : Records(f[9])) ReadRecord(record, device);
  return device;
}

// Ranks the addresses of one device on its several interfaces. Callers use the address with the least rank.
int Rank(const FoundDevice& device) {
  const std::string& a = device.address;
  if (a.starts_with("127.") || a == "::1") return 3;
  return a.find('%') != a.npos ? 2 : a.find(':') != a.npos ? 1 : 0;
}

std::tuple<const std::string&, const std::string&, int> KeyOf(const FoundDevice& d) {
  return {d.name, d.host, d.port};
}

}  // namespace

std::string Endpoint(const FoundDevice& device) {
  const bool is_v6 = device.address.find(':') != std::string::npos;
  return (is_v6 ? "[" + device.address + "]" : device.address) + ":" + std::to_string(device.port);
}

std::vector<FoundDevice> ParseBrowse(const std::string& text) {
  std::vector<FoundDevice> all;
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    if (auto device = ParseLine(rest.substr(0, end))) all.push_back(std::move(*device));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  std::stable_sort(all.begin(), all.end(), [](const FoundDevice& a, const FoundDevice& b) {
    return std::tuple_cat(KeyOf(a), std::tuple(Rank(a))) < std::tuple_cat(KeyOf(b), std::tuple(Rank(b)));
  });
  const auto same = [](const FoundDevice& a, const FoundDevice& b) { return KeyOf(a) == KeyOf(b); };
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
  if (all.size() > kMostDevices) all.resize(kMostDevices);
  return all;
}

std::vector<FoundDevice> FindDevices(std::chrono::milliseconds timeout, Clock& clock) {
  const std::string path = AvahiProgram("avahi-browse");
  const Clock::Time deadline = clock.Now() + timeout;
  Child child(path, {"-rptk", kServiceType}, Child::WhenFull::kWait, clock);
  std::string said;
  child.Read(said, kMostOutput, "", deadline);
  const bool ended = said.size() < kMostOutput && child.EndsBefore(deadline);
  if (ended && child.status() != 0) FailOfAvahi(path, said);
  return ParseBrowse(said.substr(0, said.rfind('\n') + 1));  // without the line that was being written
}

}  // namespace mete

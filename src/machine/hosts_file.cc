#include "machine/hosts_file.h"

#include <filesystem>
#include <set>

#include "base/mapped_file.h"
#include "machine/devices_file.h"
#include "machine/toml_keys.h"

namespace mete {
namespace {

toml::table Parse(const std::string& path) {
  const auto file = MappedFile::Open(path);
  return ParseToml({reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()}, path);
}

class Reader {
 public:
  explicit Reader(std::string path) : path_(std::move(path)) {}

  HostsFile Do(const toml::table& table) {
    RefuseOtherDescription(table, path_, Description::kWorkers);
    TomlKeys keys(table, path_, "devices", problems_);
    file_.name = keys.Text("name");
    file_.keys = PathAt(keys, "keys");
    file_.token = PathAt(keys, "token");
    if (const toml::node* insecure = keys.Find("insecure")) file_.insecure = insecure->value_or(false);
    const int ways = !file_.keys.empty() + !file_.token.empty() + file_.insecure;
    if (ways != 1)
      keys.Problem(&table,
                   "why workers believe us is said {} times, expected once; try one of: keys = \"keys/{}\", "
                   "token = \"token\", "
                   "insecure = true",
                   ways, "laptop");
    for (const toml::table* device : keys.Tables("device")) ReadDevice(*device);
    keys.RefuseOthers();
    problems_.ThrowIfAny();
    return std::move(file_);
  }

 private:
  // Returns the path under `key`, which the file gives relative to its own folder; "" if the key is missing.
  std::string PathAt(TomlKeys& keys, const char* key) {
    if (!keys.Find(key)) return "";
    return (std::filesystem::path(path_).parent_path() / keys.Text(key)).string();
  }

  void ReadDevice(const toml::table& table) {
    const std::string name = table["name"].value_or(std::string("?"));
    TomlKeys keys(table, path_, fmt::format("device '{}'", Printable(name.substr(0, 40))), problems_);
    HostEntry device;
    device.name = keys.Text("name");
    if (keys.Find("address")) device.address = keys.Text("address");
    device.power = ReadPower(keys);
    keys.RefuseOthers();
    if (!names_.insert(device.name).second) keys.Problem(table.get("name"), "another device has this name");
    const bool own = file_.devices.empty();
    if (own && !device.address.empty())
      keys.Problem(table.get("address"), "the first device is this one and has no address");
    if (!own && !IsAddress(device.address))
      keys.Problem(&table, "its address is not one; got '{}', expected HOST:PORT",
                   Printable(device.address.substr(0, 80)));
    if (!own && !addresses_.insert(device.address).second)
      keys.Problem(table.get("address"), "another device has this address");
    if (file_.devices.size() >= size_t(kMostDevices))
      return keys.Problem(&table, "too many devices; expected {} at most", kMostDevices);
    file_.devices.push_back(device);
  }

  static std::optional<HostPower> ReadPower(TomlKeys& keys) {
    const bool sent = keys.Find("sent_nj_per_byte"), received = keys.Find("received_nj_per_byte");
    if (!keys.Find("idle_w") && !keys.Find("compute_w") && !sent && !received) return {};
    HostPower power{
        keys.TakeFigure("idle_w", 0, kMostWatts), keys.TakeFigure("compute_w", 0, kMostWatts), {}, {}};
    if (sent) power.sent_nj_per_byte = keys.TakeFigure("sent_nj_per_byte", 0, kMostNanojoules);
    if (received) power.received_nj_per_byte = keys.TakeFigure("received_nj_per_byte", 0, kMostNanojoules);
    return power;
  }

  static bool IsAddress(const std::string& text) {
    const size_t colon = text.rfind(':');
    if (colon == std::string::npos || colon == 0 || text.size() > 255) return false;
    const std::string port = text.substr(colon + 1);
    return !port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == std::string::npos &&
           std::stoi(port) > 0 && std::stoi(port) < 65536 &&
           text.find_first_of(" /\t\n") == std::string::npos;
  }

  const std::string path_;
  Problems problems_;
  HostsFile file_;
  std::set<std::string> names_, addresses_;
};

}  // namespace

bool IsHostsFile(const std::string& path) { return DescriptionOf(Parse(path)) == Description::kWorkers; }

bool DescribesDevices(const std::string& path) {
  const std::optional<Description> description = DescriptionOf(Parse(path));
  return description && *description != Description::kMachine;
}

HostsFile ReadHostsFile(const std::string& path) { return Reader(path).Do(Parse(path)); }

}  // namespace mete

#include "machine/devices_file.h"

#include <fmt/ranges.h>

#include <filesystem>
#include <map>
#include <set>

#include "base/mapped_file.h"
#include "machine/toml_keys.h"

namespace mete {
namespace {

class Reader {
 public:
  explicit Reader(std::string path) : path_(std::move(path)) {}

  DevicesFile Do(const toml::table& table) {
    TomlKeys keys(table, path_, "devices", problems_);
    file_.name = keys.Text("name");
    RefuseOtherDescription(table, path_, Description::kSimulatedProcessors);
    for (const toml::table* device : keys.Tables("device")) ReadDevice(*device);
    keys.RefuseOthers();
    problems_.ThrowIfAny();
    return std::move(file_);
  }

 private:
  void ReadDevice(const toml::table& table) {
    const std::string name = table["name"].value_or(std::string("?"));
    TomlKeys keys(table, path_, fmt::format("device '{}'", Printable(name.substr(0, 40))), problems_);
    DeviceEntry device;
    device.name = keys.Text("name");
    const int count = keys.Count("count", kMostDevices, 1);
    device.machine = MachineOf(keys.Text("machine"));
    ReadLink(keys, device);
    if (keys.Find("idle_w")) device.idle_w = keys.TakeFigure("idle_w", 0, kMostWatts);
    if (keys.Find("sent_nj_per_byte"))
      device.sent_nj_per_byte = keys.TakeFigure("sent_nj_per_byte", 0, kMostNanojoules);
    if (keys.Find("received_nj_per_byte"))
      device.received_nj_per_byte = keys.TakeFigure("received_nj_per_byte", 0, kMostNanojoules);
    keys.RefuseOthers();
    if (!names_.insert(device.name).second) keys.Problem(table.get("name"), "another device has this name");
    if (file_.devices.size() + size_t(count) > size_t(kMostDevices))
      return keys.Problem(&table, "too many devices; got {}, expected {} at most",
                          file_.devices.size() + size_t(count), kMostDevices);
    for (int i = 1; i <= count; ++i) {
      file_.devices.push_back(device);
      if (count > 1) file_.devices.back().name += fmt::format("-{}", i);
    }
  }

  // Estimates need the whole link: a device without one could not be reached.
  static void ReadLink(TomlKeys& keys, DeviceEntry& device) {
    std::vector<std::string> missing;
    const auto read = [&](const char* key, double least, double most, Figure& figure) {
      if (keys.Find(key)) figure = keys.TakeFigure(key, least, most);
      else missing.push_back(key);
    };
    read("latency_us", 0, 1e7, device.latency_us);
    read("message_us", 0, 1e7, device.message_us);
    read("up_mbit_per_s", 0.001, 1e6, device.up_mbit_per_s);
    read("down_mbit_per_s", 0.001, 1e6, device.down_mbit_per_s);
    if (!missing.empty())
      keys.Problem(nullptr,
                   "has no link to the other devices, or a part of one; got no {}, expected latency_us, "
                   "message_us, up_mbit_per_s and down_mbit_per_s, each {{ value = ..., source = \"...\" }}",
                   fmt::join(missing, ", "));
  }

  // Returns the index of the machine file `name`, a path relative to this file. The file is read when it is
  // first named.
  int MachineOf(const std::string& name) {
    const auto [at, is_new] = machines_.try_emplace(name, int(file_.machines.size()));
    if (is_new && !name.empty())
      problems_.Try([&] {
        file_.machines.push_back(
            ReadMachineFile((std::filesystem::path(path_).parent_path() / name).string()));
      });
    return at->second;
  }

  const std::string path_;
  Problems problems_;
  DevicesFile file_;
  std::set<std::string> names_;
  std::map<std::string, int> machines_;
};

}  // namespace

DevicesFile ReadDevicesFile(const std::string& path) {
  const auto file = MappedFile::Open(path);
  return Reader(path).Do(
      ParseToml({reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()}, path));
}

}  // namespace mete

#include "machine/pool_file.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/mapped_file.h"
#include "base/nearest.h"
#include "machine/core_list.h"
#include "machine/described_devices.h"
#include "machine/toml_keys.h"
#include "mete/tensor.h"

namespace mete {
namespace {

toml::table Parse(const std::string& path) {
  const auto file = MappedFile::Open(path);
  return ParseToml({reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()}, path);
}

class Reader {
 public:
  Reader(std::string path, std::span<const KindInFile> kinds)
      : path_(std::move(path)), kinds_(kinds), described_(path_, problems_) {}

  PoolFile Do(const toml::table& table) {
    RefuseOtherDescription(table, path_, Description::kDevices);
    TomlKeys keys(table, path_, "devices", problems_);
    file_.name = keys.Text("name");
    const std::vector<const toml::table*> devices = keys.Tables("device");
    const bool described = std::any_of(devices.begin(), devices.end(),
                                       [](const toml::table* device) { return device->contains("machine"); });
    for (const toml::table* device : devices)
      if (described) ReadDescribed(*device);
      else ReadDevice(*device);
    if (!described) ReadTrust(keys, table);
    keys.RefuseOthers();
    problems_.ThrowIfAny();
    file_.machines = described_.TakeMachines();
    return std::move(file_);
  }

 private:
  void ReadTrust(TomlKeys& keys, const toml::table& table) {
    file_.keys = PathAt(keys, "keys");
    file_.token = PathAt(keys, "token");
    if (const toml::node* insecure = keys.Find("insecure")) file_.insecure = insecure->value_or(false);
    const bool workers = std::any_of(file_.devices.begin(), file_.devices.end(),
                                     [](const DeviceInPool& device) { return !device.address.empty(); });
    const int ways = !file_.keys.empty() + !file_.token.empty() + file_.insecure;
    if (ways == 1 || (!workers && ways == 0)) return;
    keys.Problem(&table,
                 "why workers believe us is said {} times, expected once; try one of: keys = \"keys/{}\", "
                 "token = \"token\", insecure = true",
                 ways, "laptop");
  }

  // Relative to the file's folder.
  std::string PathAt(TomlKeys& keys, const char* key) {
    if (!keys.Find(key)) return "";
    return (std::filesystem::path(path_).parent_path() / keys.Text(key)).string();
  }

  TomlKeys KeysOfDevice(const toml::table& table) {
    const std::string name = table["name"].value_or(std::string("?"));
    return {table, path_, fmt::format("device '{}'", Printable(name.substr(0, 40))), problems_};
  }

  // Adds devices of this name, unless they are too many.
  void Add(const DeviceInPool& device, int count, TomlKeys& keys, const toml::table& table) {
    if (!names_.insert(device.name).second) keys.Problem(table.get("name"), "another device has this name");
    const size_t all = file_.devices.size() + size_t(count);
    if (all > size_t(kMostDevices))
      return keys.Problem(&table, "too many devices; got {}, expected {} at most", all, kMostDevices);
    for (int i = 1; i <= count; ++i) {
      file_.devices.push_back(device);
      if (count > 1) file_.devices.back().name += fmt::format("-{}", i);
    }
  }

  void ReadDescribed(const toml::table& table) {
    TomlKeys keys = KeysOfDevice(table);
    DeviceInPool device;
    device.name = keys.Text("name");
    const int count = keys.Count("count", kMostDevices, 1);
    device.described = described_.Read(keys);
    if (keys.Find("address"))
      keys.Problem(
          table.get("address"),
          "has an address, and a device of the file has a machine file; expected devices that are all "
          "there or all described");
    keys.RefuseOthers();
    Add(device, count, keys, table);
  }

  void ReadDevice(const toml::table& table) {
    TomlKeys keys = KeysOfDevice(table);
    DeviceInPool device;
    device.name = keys.Text("name");
    if (keys.Find("address")) device.address = keys.Text("address");
    device.power = ReadPower(keys);
    if (keys.Find("processor"))
      for (const toml::table* processor : keys.Tables("processor"))
        device.processors.push_back(ReadProcessor(*processor, device));
    keys.RefuseOthers();
    const bool own = file_.devices.empty();
    if (own && !device.address.empty())
      keys.Problem(table.get("address"), "the first device is this one and has no address");
    if (!own && !table.contains("address"))
      keys.Problem(
          &table,
          "is a second device without an address, so that the pool has two roots; expected one device "
          "without, the caller's own, as the first; try address = \"HOST:PORT\"");
    else if (!own && !IsAddress(device.address))
      keys.Problem(&table, "its address is not one; got '{}', expected HOST:PORT",
                   Printable(device.address.substr(0, 80)));
    if (!own && !device.address.empty() && !addresses_.insert(device.address).second)
      keys.Problem(table.get("address"), "another device has this address");
    Add(device, 1, keys, table);
  }

  // Of a worker a name alone: which of those that it offers.
  ProcessorEntry ReadProcessor(const toml::table& table, const DeviceInPool& device) {
    const std::string name = table["name"].value_or(std::string("?"));
    TomlKeys keys(table, path_, fmt::format("processor '{}'", Printable(name.substr(0, 40))), problems_);
    ProcessorEntry processor;
    processor.name = keys.Text("name");
    if (!processors_.insert(NameInPool(device, processor)).second)
      keys.Problem(table.get("name"), "another processor has this name; expected names that differ");
    if (!device.address.empty()) {
      for (const char* key : {"cores", "speed", "kind"})
        if (keys.Find(key))
          keys.Problem(table.get(key), "'{}' of a worker's processor is the worker's; try --processors there",
                       key);
      keys.RefuseOthers();
      return processor;
    }
    if (keys.Find("cores")) {
      const std::string cores = keys.Text("cores");
      if (const auto list = ParseCoreList(cores)) processor.cores = *list;
      else
        keys.Problem(table.get("cores"), "is no list of cores; got '{}', expected one like 0-3,6",
                     Printable(cores));
    }
    if (keys.Find("speed")) processor.speed = keys.Number("speed", 0.01, 1);
    ReadKind(keys, processor);
    keys.RefuseOthers();
    if (const std::string why = WhyTwice(processor, device.processors); !why.empty())
      keys.Problem(&table, "{}", why);
    return processor;
  }

  void ReadKind(TomlKeys& keys, ProcessorEntry& processor) {
    const toml::node* at = keys.Find("kind");
    if (at) processor.kind = keys.Text("kind");
    const auto kind = std::find_if(kinds_.begin(), kinds_.end(),
                                   [&](const KindInFile& k) { return k.name == processor.kind; });
    if (kind != kinds_.end()) {
      if (kind->read) kind->read(keys, processor);
      return;
    }
    std::vector<std::string> names;
    for (const KindInFile& k : kinds_) names.push_back(k.name);
    keys.Problem(at, "its kind is unknown; got '{}'{}", Printable(processor.kind),
                 ExpectedOneOf(processor.kind, names));
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
  const std::span<const KindInFile> kinds_;
  Problems problems_;
  DescribedDevices described_;
  PoolFile file_;
  std::set<std::string> names_, addresses_, processors_;
};

}  // namespace

std::optional<ProcessorPower> ReadPower(TomlKeys& keys) {
  const bool sent = keys.Find("sent_nj_per_byte"), received = keys.Find("received_nj_per_byte");
  if (!keys.Find("idle_w") && !keys.Find("compute_w") && !sent && !received) return {};
  ProcessorPower power{
      keys.TakeFigure("idle_w", 0, kMostWatts), keys.TakeFigure("compute_w", 0, kMostWatts), {}, {}};
  if (sent) power.sent_nj_per_byte = keys.TakeFigure("sent_nj_per_byte", 0, kMostNanojoules);
  if (received) power.received_nj_per_byte = keys.TakeFigure("received_nj_per_byte", 0, kMostNanojoules);
  return power;
}

std::string NameInPool(const DeviceInPool& device, const ProcessorEntry& processor) {
  return device.address.empty() ? processor.name : device.name + "/" + processor.name;
}

std::vector<std::string> NamesOf(const PoolFile& pool) {
  std::vector<std::string> names;
  for (const DeviceInPool& device : pool.devices) {
    if (device.processors.empty()) names.push_back(device.name);
    for (const ProcessorEntry& processor : device.processors) names.push_back(NameInPool(device, processor));
  }
  return names;
}

bool DescribesDevices(const std::string& path) { return DescriptionOf(Parse(path)) == Description::kDevices; }

PoolFile ReadPoolFile(const std::string& path, std::span<const KindInFile> kinds) {
  return Reader(path, kinds).Do(Parse(path));
}

namespace {

const std::vector<int>& CoresOf(const ProcessorEntry& processor, const std::vector<int>& allowed) {
  return processor.cores.empty() && processor.has_cores ? allowed : processor.cores;
}

}  // namespace

void CheckCores(const PoolFile& pool, const std::vector<int>& allowed) {
  Problems problems;
  std::map<int, std::string> owner;
  const auto own = [&](int core, const std::string& name) {
    if (std::find(allowed.begin(), allowed.end(), core) == allowed.end())
      Invalid(name, "core {} is not there, or this process may not use it; expected some of {}", core,
              FormatCoreList(allowed));
    if (const auto [at, is_new] = owner.emplace(core, name); !is_new)
      Invalid(name, "shares core {} with {}; expected processors with cores of their own", core, at->second);
  };
  for (const DeviceInPool& device : pool.devices)
    for (const ProcessorEntry& processor :
         device.address.empty() ? device.processors : std::vector<ProcessorEntry>())
      for (const int core : CoresOf(processor, allowed)) problems.Try([&] { own(core, processor.name); });
  problems.ThrowIfAny();
}

std::vector<ProcessorEntry> WithCallerCores(std::vector<ProcessorEntry> processors,
                                            const std::vector<int>& allowed) {
  std::vector<int> left = allowed;
  for (const ProcessorEntry& processor : processors)
    for (const int core : CoresOf(processor, allowed)) std::erase(left, core);
  size_t next = 0;
  std::map<std::string, int> of_unit;  // hardware that several entries have
  for (ProcessorEntry& processor : processors) {
    if (processor.has_cores || left.empty()) continue;
    const int core = left[next % left.size()];
    const auto [at, is_new] = of_unit.emplace(processor.unit, core);
    const bool is_known = !processor.unit.empty() && !is_new;
    processor.cores = {is_known ? at->second : core};
    if (!is_known) ++next;
  }
  return processors;
}

}  // namespace mete

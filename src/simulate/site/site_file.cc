#include "simulate/site/site_file.h"

#include <filesystem>

#include "base/mapped_file.h"
#include "machine/toml_keys.h"

namespace mete {
namespace {

// Guesses, as those of machine files: a value above is taken for a typing error.
constexpr double kMostMs = 1e7, kMostPhotoBytes = 1e9, kMostLateRatio = 1000;

toml::table Parse(const std::string& path) {
  const auto file = MappedFile::Open(path);
  return ParseToml({reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()}, path);
}

class Reader {
 public:
  explicit Reader(std::string path) : path_(std::move(path)) {}

  SiteFile Do(const toml::table& table) {
    TomlKeys keys(table, path_, "site", problems_);
    site_.name = keys.Text("name");
    if (keys.Find("device"))
      if (const std::string device = keys.Text("device"); !device.empty())
        problems_.Try([&] { site_.device = DeviceAt(PathOf(device)); });
    ReadServer(keys);
    if (const toml::table* power = Table(keys, "power")) ReadThisDevice(*power);
    if (const toml::table* photo = Table(keys, "photo")) ReadPhoto(*photo);
    site_.loads[size_t(StartState::kResident)] = LoadCost{};
    if (const toml::table* states = Table(keys, "states")) ReadStates(*states);
    if (const toml::table* without = Table(keys, "without")) ReadWithout(*without);
    keys.RefuseOthers();
    problems_.ThrowIfAny();
    return std::move(site_);
  }

 private:
  std::string PathOf(const std::string& name) const {
    return (std::filesystem::path(path_).parent_path() / name).string();
  }

  static const toml::table* Table(TomlKeys& keys, const char* key) {
    const toml::node* node = keys.Find(key);
    if (node && !node->is_table()) keys.Problem(node, "'{}' is wrong; expected a table", key);
    return node ? node->as_table() : nullptr;
  }

  // A machine file is a pool of one device without a link.
  static PoolFile DeviceAt(const std::string& path) {
    if (DescribesDevices(path)) {
      PoolFile pool = ReadPoolFile(path, {});
      if (!pool.described())
        Invalid(path, "has devices that are there; expected described ones, with machine files");
      return pool;
    }
    PoolFile pool;
    pool.machines.push_back(ReadMachineFile(path));
    pool.name = pool.machines[0].machine.name;
    const Figure at_once{1e12, "derived: no other device"}, nothing{0, "derived: no other device"};
    pool.devices.push_back({pool.name,
                            "",
                            {},
                            std::nullopt,
                            DescribedDevice{0, nothing, nothing, at_once, at_once, std::nullopt, {}, {}}});
    return pool;
  }

  void ReadServer(TomlKeys& keys) {
    const toml::table *server = Table(keys, "server"), *link = Table(keys, "link");
    if (!server && link) keys.Problem(link, "has a link and no server; expected both or none");
    if (server && !link) keys.Problem(server, "has a server and no link; try [link] with profile = \"wifi\"");
    if (!server || !link) return;
    site_.has_server = true;
    TomlKeys of_server(*server, path_, "server", problems_);
    if (of_server.Find("machine"))
      if (const std::string machine = of_server.Text("machine"); !machine.empty())
        problems_.Try([&] { site_.server = ReadMachineFile(PathOf(machine)); });
    if (of_server.Find("address")) ReadThere(of_server);
    if (!server->contains("machine") && !server->contains("address"))
      of_server.Problem(nullptr, "is neither described nor there; expected 'machine', 'address', or both");
    Read(of_server, "wait_ms", 0, kMostMs, site_.server_wait_ms);
    Read(of_server, "load_ms", 0, kMostMs, site_.server_load_ms);
    of_server.RefuseOthers();
    ReadLink(*link);
  }

  static std::string AddressAt(TomlKeys& server, const char* key) {
    const std::string address = server.Text(key);
    const size_t colon = address.rfind(':');
    const bool has_port = colon != std::string::npos && colon > 0 && colon + 1 < address.size() &&
                          address.find_first_not_of("0123456789", colon + 1) == std::string::npos;
    if (!address.empty() && !has_port)
      server.Problem(server.Find(key), "'{}' is wrong; got '{}', expected HOST:PORT", key,
                     Printable(address));
    return address;
  }

  // Of a server that is there.
  void ReadThere(TomlKeys& server) {
    site_.address = AddressAt(server, "address");
    if (server.Find("worker")) site_.worker = AddressAt(server, "worker");
    if (server.Find("model")) site_.model = server.Text("model");
    const auto path = [&](const char* key, std::string& to) {
      if (!server.Find(key)) return;
      if (const std::string text = server.Text(key); !text.empty()) to = PathOf(text);
    };
    path("keys", site_.keys);
    path("token", site_.token);
  }

  void ReadLink(const toml::table& table) {
    TomlKeys keys(table, path_, "link", problems_);
    if (keys.Find("profile"))
      problems_.Try([&] { site_.link = FindNamedLink(keys.Text("profile"), path_ + ": profile").link(); });
    else
      for (const char* key : {"connect_ms", "round_trip_ms", "up_mbit_per_s", "down_mbit_per_s"})
        if (!keys.Find(key)) keys.Problem(nullptr, "'{}' is missing; expected it, or a profile", key);
    if (keys.Find("connection")) site_.connection = ConnectionOf(keys);
    Read(keys, "connect_ms", 0, kMostMs, site_.link.connect_ms);
    Read(keys, "round_trip_ms", 0, kMostMs, site_.link.round_trip_ms);
    Read(keys, "up_mbit_per_s", 0.001, 1e6, site_.link.up_mbit_per_s);
    Read(keys, "down_mbit_per_s", 0.001, 1e6, site_.link.down_mbit_per_s);
    Read(keys, "late_ratio", 1, kMostLateRatio, site_.link.late_ratio);
    keys.RefuseOthers();
  }

  static Connection ConnectionOf(TomlKeys& keys) {
    const std::string name = keys.Text("connection");
    if (name == "idle") return Connection::kIdle;
    if (name == "cold") return Connection::kCold;
    if (name != "warm" && !name.empty())
      keys.Problem(keys.Find("connection"),
                   "'connection' is wrong; got '{}', expected one of: warm, idle, cold", name);
    return Connection::kWarm;
  }

  void ReadThisDevice(const toml::table& table) {
    TomlKeys keys(table, path_, "power", problems_);
    site_.power = ReadPower(keys);
    if (!site_.power) keys.Problem(nullptr, "has no figures; expected idle_w and compute_w");
    keys.RefuseOthers();
  }

  void ReadPhoto(const toml::table& table) {
    TomlKeys keys(table, path_, "photo", problems_);
    PhotoCosts photo;
    photo.file_bytes = int64_t(keys.TakeFigure("file_bytes", 1, kMostPhotoBytes).value);
    photo.scaled_bytes = int64_t(keys.TakeFigure("scaled_bytes", 1, kMostPhotoBytes).value);
    if (const toml::table* device = Table(keys, "device"))
      photo.device = ReadPicture(*device, "photo on the device");
    if (const toml::table* server = Table(keys, "server"))
      photo.server = ReadPicture(*server, "photo on the server");
    keys.RefuseOthers();
    site_.photo = photo;
  }

  PictureCosts ReadPicture(const toml::table& table, const char* what) {
    TomlKeys keys(table, path_, what, problems_);
    PictureCosts picture;
    const auto read = [&](const char* key, std::optional<double>& ms) {
      if (keys.Find(key)) ms = keys.TakeFigure(key, 0, kMostMs).value;
    };
    read("decode_ms", picture.decode_ms);
    read("scale_ms", picture.scale_ms);
    read("encode_scaled_ms", picture.encode_scaled_ms);
    read("decode_scaled_ms", picture.decode_scaled_ms);
    keys.RefuseOthers();
    return picture;
  }

  void ReadWithout(const toml::table& table) {
    TomlKeys keys(table, path_, "without", problems_);
    for (size_t p = 0; p < kKeptParts; ++p)
      if (const std::string key = KeptPartWords()[p] + "_ms"; keys.Find(key.c_str()))
        site_.without[p] = keys.TakeFigure(key.c_str(), 0, kMostMs).value;
    keys.RefuseOthers();
  }

  void ReadStates(const toml::table& table) {
    TomlKeys keys(table, path_, "states", problems_);
    for (size_t s = 0; s < kStartStates; ++s) {
      const toml::table* state = Table(keys, StartStates()[s].c_str());
      if (!state) continue;
      TomlKeys of_state(*state, path_, "state '" + StartStates()[s] + "'", problems_);
      LoadCost load;
      load.ms = load.least_ms = of_state.TakeFigure("load_ms", 0, kMostMs).value;
      Read(of_state, "least_ms", 0, kMostMs, load.least_ms);
      if (load.least_ms > load.ms)
        of_state.Problem(state->get("least_ms"), "'least_ms' is more than all; got {}, expected {} at most",
                         load.least_ms, load.ms);
      of_state.RefuseOthers();
      site_.loads[s] = load;
    }
    keys.RefuseOthers();
  }

  // Leaves `value` as it is if the key is missing.
  static void Read(TomlKeys& keys, const char* key, double least, double most, double& value) {
    if (keys.Find(key)) value = keys.TakeFigure(key, least, most).value;
  }

  const std::string path_;
  Problems problems_;
  SiteFile site_;
};

}  // namespace

SiteFile ReadSiteFile(const std::string& path) { return Reader(path).Do(Parse(path)); }

bool IsSiteFile(const std::string& path) { return Parse(path).contains("server"); }

PoolFile PoolOfSite(const SiteFile& site) {
  PoolFile pool;
  pool.name = site.name;
  pool.keys = site.keys;
  pool.token = site.token;
  pool.insecure = site.keys.empty() && site.token.empty();
  const std::string host = site.worker.substr(0, site.worker.rfind(':'));
  const bool is_bracketed = host.starts_with('[') && host.ends_with(']');
  pool.devices.push_back({.name = "device"});
  pool.devices.push_back(
      {.name = is_bracketed ? host.substr(1, host.size() - 2) : host, .address = site.worker});
  return pool;
}

}  // namespace mete

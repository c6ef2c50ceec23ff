#include "serve/site/memory.h"

#include <cmath>

#include "base/error.h"
#include "base/json.h"
#include "partition/layers.h"

namespace mete::serve {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kKept = 32;         // as a LinkEstimate keeps
constexpr double kMostMs = 1e7;      // as those of site files
constexpr double kMostBytes = 1e12;  // guess: no photo has so many

struct Field {
  const char* name;
  std::optional<double> SideMemory::*value;
};
constexpr Field kFields[] = {{"load_ms", &SideMemory::load_ms},
                             {"compute_ms", &SideMemory::compute_ms},
                             {"decode_ms_per_mb", &SideMemory::decode_ms_per_mb},
                             {"scale_ms_per_mb", &SideMemory::scale_ms_per_mb},
                             {"small_ms", &SideMemory::small_ms}};
constexpr const char* kConnections[] = {"warm", "idle", "cold"};  // in the order of Connection

Json SideJson(const SideMemory& side) {
  Json json = Json::object();
  for (const Field& field : kFields)
    if (side.*field.value) json[field.name] = *(side.*field.value);
  return json;
}

double Number(const Json& json, const std::string& where, const char* what, double most) {
  const double number = json.is_number() ? json.get<double>() : -1;
  if (!(number >= 0 && number <= most))
    Invalid(where, "'{}' is no such figure; got {}, expected 0 to {}", what, JsonText(json, -1), most);
  return number;
}

SideMemory SideOf(const Json& json, const std::string& where) {
  SideMemory side;
  for (const Field& field : kFields)
    if (json.contains(field.name))
      side.*field.value = Number(json.at(field.name), where, field.name, kMostMs);
  return side;
}

ObservedExchange ExchangeOf(const Json& json, const std::string& where) {
  ObservedExchange exchange;
  exchange.up_bytes = int64_t(Number(json.at("up_bytes"), where, "up_bytes", kMostBytes));
  exchange.down_bytes = int64_t(Number(json.at("down_bytes"), where, "down_bytes", kMostBytes));
  exchange.ms = Number(json.at("ms"), where, "ms", kMostMs);
  const auto name = json.at("connection").get<std::string>();
  for (size_t c = 0; c < std::size(kConnections); ++c) {
    if (name != kConnections[c]) continue;
    exchange.connection = Connection(c);
    return exchange;
  }
  Invalid(where, "'connection' is wrong; got '{}', expected warm, idle or cold", Printable(name));
}

// A side of which only the whole time is known.
ProcessorCosts Whole(const std::string& name, double ms, size_t layers) {
  const LinkCosts at_once{0, 0, 1e12, 1e12};
  return {name, at_once, std::vector<LayerCost>(layers, {ms * 1e3 / double(layers), 0})};
}

std::optional<double> Times(const std::optional<double>& rate, int64_t bytes) {
  return rate ? std::optional(*rate * double(bytes) * 1e-6) : std::nullopt;
}

}  // namespace

void Learn(std::optional<double>& kept, double ms) { kept = kept ? (*kept + ms) / 2 : ms; }

void Learn(SiteMemory& memory, const ObservedExchange& exchange) {
  memory.exchanges.push_back(exchange);
  if (memory.exchanges.size() > kKept) memory.exchanges.erase(memory.exchanges.begin());
}

NetworkLink LinkOf(const NetworkLink& prior, const SiteMemory& memory) {
  LinkEstimate estimate(prior);
  for (const ObservedExchange& exchange : memory.exchanges) estimate.Observe(exchange);
  return estimate.link();
}

std::string ToJson(const SiteMemory& memory) {
  Json json{{"version", 1},
            {"device", SideJson(memory.device)},
            {"server", SideJson(memory.server)},
            {"exchanges", Json::array()}};
  if (memory.scaled_bytes) json["scaled_bytes"] = *memory.scaled_bytes;
  for (const ObservedExchange& e : memory.exchanges)
    json["exchanges"].push_back({{"up_bytes", e.up_bytes},
                                 {"down_bytes", e.down_bytes},
                                 {"ms", e.ms},
                                 {"connection", kConnections[size_t(e.connection)]}});
  return JsonText(json, 1);
}

SiteMemory SiteMemoryFromJson(const std::string& text, const std::string& where) {
  try {
    const Json json = ParseJson(text, where);
    WholeNumber(Object(json, where, "the file").at("version"), where, "version", 1, 1);
    SiteMemory memory;
    memory.device = SideOf(Object(json.at("device"), where, "device"), where);
    memory.server = SideOf(Object(json.at("server"), where, "server"), where);
    if (json.contains("scaled_bytes"))
      memory.scaled_bytes = Number(json.at("scaled_bytes"), where, "scaled_bytes", kMostBytes);
    for (const Json& exchange : List(json.at("exchanges"), where, "exchanges"))
      Learn(memory, ExchangeOf(Object(exchange, where, "an exchange"), where));
    return memory;
  } catch (const Json::exception& e) {
    Invalid(where, "is no memory of a site; {}", Printable(ReasonOf(e)));
  }
}

SiteCosts CostsOf(const Graph& graph, const SiteMemory& memory, const NetworkLink& link, const SiteNow& now) {
  const SideMemory &device = memory.device, &server = memory.server;
  if (!device.load_ms || !device.compute_ms)
    Fail(Code::kFailedPrecondition, "site", "the device's times are not known");
  if (now.server_answers && !server.compute_ms)
    Fail(Code::kFailedPrecondition, "site", "the server's time to compute is not known");
  const size_t layers = LayersOf(graph).size();
  SiteCosts costs;
  costs.pool.processors = {Whole("device", *device.compute_ms, layers)};
  if (now.server_answers) AddServer(costs, Whole("server", *server.compute_ms, layers), link);
  costs.connection = now.connection;
  costs.server_wait_ms = now.server_wait_ms;
  costs.state = now.resident ? StartState::kResident : StartState::kKilled;
  costs.loads[size_t(StartState::kResident)] = LoadCost{};
  costs.loads[size_t(StartState::kKilled)] = LoadCost{*device.load_ms, *device.load_ms};
  PhotoCosts photo;
  photo.file_bytes = std::max<int64_t>(1, now.file_bytes);
  photo.scaled_bytes = std::max<int64_t>(1, int64_t(memory.scaled_bytes.value_or(1)));
  photo.device = {Times(device.decode_ms_per_mb, now.file_bytes),
                  Times(device.scale_ms_per_mb, now.file_bytes), device.small_ms, std::nullopt};
  photo.server = {Times(server.decode_ms_per_mb, now.file_bytes),
                  Times(server.scale_ms_per_mb, now.file_bytes), std::nullopt, server.small_ms};
  if (!photo.server.decode_ms) photo.server.decode_ms = photo.device.decode_ms;
  if (!photo.server.scale_ms) photo.server.scale_ms = photo.device.scale_ms;
  costs.photo = photo;
  return costs;
}

}  // namespace mete::serve

#include "serve/site/memory.h"

#include <algorithm>

#include "base/error.h"
#include "base/json.h"
#include "graph/flops.h"
#include "partition/layers.h"

namespace mete::serve {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 4;          // of the text
constexpr double kMostMs = 1e7;      // as those of site files
constexpr double kMostBytes = 1e12;  // guess: no photo has so many

constexpr size_t kMostSeen = 1000;  // guess: of times in a list; the last ones are kept

struct TimesField {
  const char* name;
  RecentTimes SideMemory::*times;
};
constexpr TimesField kTimes[] = {{"least_load_ms", &SideMemory::least_load},
                                 {"ready_ms", &SideMemory::ready},
                                 {"stream_ms", &SideMemory::stream},
                                 {"compute_ms", &SideMemory::compute},
                                 {"home_ms", &SideMemory::home},
                                 {"small_ms", &SideMemory::small}};
struct PhotoField {
  const char* name;
  SeenSteps PhotoTimes::*times;
};
constexpr PhotoField kPhotos[] = {{"decode", &PhotoTimes::decode}, {"scale", &PhotoTimes::scale}};
struct StatesField {
  const char* name;
  std::array<RecentTimes, kStartStates> SideMemory::*times;
};
constexpr StatesField kStates[] = {{"start_ms", &SideMemory::start}};
constexpr size_t kMostPath = 4096;                                // as the system's
constexpr const char* kConnections[] = {"warm", "idle", "cold"};  // in the order of Connection

Json SideJson(const SideMemory& side) {
  Json json = Json::object();
  if (!side.plan.empty()) json["plan"] = side.plan;
  for (const TimesField& field : kTimes)
    if ((side.*field.times).ms()) json[field.name] = (side.*field.times).seen();
  for (const PhotoField& field : kPhotos)
    for (size_t s = 0; s < kStartStates; ++s)
      for (const SeenStep& step : (side.photo[s].*field.times).seen())
        json[field.name][StartStates()[s]].push_back({step.first, step.second, step.ms});
  for (const StatesField& field : kStates)
    for (size_t s = 0; s < kStartStates; ++s)
      if (const RecentTimes& times = (side.*field.times)[s]; times.ms())
        json[field.name][StartStates()[s]] = times.seen();
  for (size_t s = 0; s < kStartStates; ++s)
    for (size_t missing = 0; missing < kMissing; ++missing)
      if (const RecentTimes& times = side.load[s][missing]; times.ms())
        json["load_ms"][StartStates()[s]][WordOf(missing)] = times.seen();
  for (size_t p = 0; p < kKeptParts; ++p)
    if (side.files[p]) json["files"][KeptPartWords()[p]] = *side.files[p];
  return json;
}

double Number(const Json& json, const std::string& where, const char* what, double most) {
  const double number = json.is_number() ? json.get<double>() : -1;
  if (!(number >= 0 && number <= most))
    Invalid(where, "'{}' is no such figure; got {}, expected 0 to {}", what, JsonText(json, -1), most);
  return number;
}

const Json& Times(const Json& json, const std::string& where, const char* what) {
  if (List(json, where, what).size() > kMostSeen)
    Invalid(where, "'{}' has too many times; got {}, expected at most {}", what, json.size(), kMostSeen);
  return json;
}

RecentTimes TimesOf(const Json& json, const std::string& where, const char* what) {
  RecentTimes times;
  for (const Json& ms : Times(json, where, what)) times.Learn(Number(ms, where, what, kMostMs));
  return times;
}

SeenSteps StepsOf(const Json& json, const std::string& where, const char* what) {
  SeenSteps times;
  for (const Json& step : Times(json, where, what)) {
    if (List(step, where, what).size() != 3)
      Invalid(where, "'{}' has no such step; got {}, expected two amounts and a time", what,
              JsonText(step, -1).substr(0, 100));
    times.Learn({Number(step[0], where, what, kMostBytes), Number(step[1], where, what, kMostBytes),
                 Number(step[2], where, what, kMostMs)});
  }
  return times;
}

std::vector<std::string> FilesOf(const Json& json, const std::string& where) {
  std::vector<std::string> files;
  for (const Json& file : Times(json, where, "files")) {
    files.push_back(file.get<std::string>());
    if (files.back().size() > kMostPath)
      Invalid(where, "'files' has no such path; got {} bytes, expected at most {}", files.back().size(),
              kMostPath);
  }
  return files;
}

SideMemory SideOf(const Json& json, const std::string& where) {
  SideMemory side;
  side.plan = json.value("plan", "");
  for (const TimesField& field : kTimes)
    if (json.contains(field.name)) side.*field.times = TimesOf(json.at(field.name), where, field.name);
  for (const PhotoField& field : kPhotos) {
    if (!json.contains(field.name)) continue;
    for (const auto& [state, times] : Object(json.at(field.name), where, field.name).items())
      side.photo[size_t(ParseStartState(state, where))].*field.times = StepsOf(times, where, field.name);
  }
  for (const StatesField& field : kStates) {
    if (!json.contains(field.name)) continue;
    for (const auto& [state, times] : Object(json.at(field.name), where, field.name).items())
      (side.*field.times)[size_t(ParseStartState(state, where))] = TimesOf(times, where, field.name);
  }
  if (json.contains("load_ms"))
    for (const auto& [state, loads] : Object(json.at("load_ms"), where, "load_ms").items())
      for (const auto& [missing, times] : Object(loads, where, "load_ms").items())
        side.load[size_t(ParseStartState(state, where))][ParseMissing(missing, where).to_ulong()] =
            TimesOf(times, where, "load_ms");
  if (json.contains("files"))
    for (size_t p = 0; p < kKeptParts; ++p)
      if (const Json& files = Object(json.at("files"), where, "files"); files.contains(KeptPartWords()[p]))
        side.files[p] = FilesOf(files.at(KeptPartWords()[p]), where);
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

constexpr LinkCosts kAtOnce{0, 0, 1e12, 1e12};

// Guess: a core does as many operations in the time of a byte from memory, which is near what vector units of
// 2020's processors do.
constexpr double kOperationsPerByte = 8;

// Returns an estimate of each layer's work, of which only the proportions count: operations, and bytes of
// memory in the operations that take as long.
std::vector<LayerCost> WorkOf(const Graph& graph) {
  std::vector<LayerCost> layers;
  for (const Layer& layer : LayersOf(graph)) {
    double work = 1;  // so that no layer is free where shapes are unknown
    for (int n = layer.begin; n < layer.end; ++n) {
      const Node& node = graph.nodes[size_t(n)];
      work += double(Flops(graph, node)) + kOperationsPerByte * double(BytesMoved(graph, node));
    }
    layers.push_back({work, 0});
  }
  return layers;
}

// A side of which the whole time is known, and in which proportion its layers have it.
ProcessorCosts Side(const std::string& name, double ms, std::vector<LayerCost> layers) {
  return InProportion({name, kAtOnce, std::move(layers)}, name, ms * 1e3);
}

bool HasSession(StartState state) { return state == StartState::kResident || state == StartState::kEvicted; }

LoadsByMissing SeenFrom(const SideMemory& device, size_t state) {
  LoadsByMissing loads;
  for (size_t missing = 0; missing < kMissing; ++missing) loads[missing] = device.load[state][missing].ms();
  return loads;
}

// A session of the whole model has nothing ready that a part of it would need. A part on the home of a pool
// is taken to be ready as soon as others were, a guess.
void AddCutLoad(const SiteMemory& memory, const SiteNow& now, SiteCosts& costs) {
  const SideMemory& device = memory.device;
  const StartState state = HasSession(now.state) ? StartState::kKilled : now.state;
  const double whole_ms = LoadOf(device, state, now.missing, now.part_ms).value_or(LoadNow{}).ms;
  const double least_ms = device.least_load.ms().value_or(whole_ms);
  costs.cut = {
      memory.server.ready.ms().value_or(0), memory.server.stream.ms().value_or(0),
      device.home.ms() ? LoadCost{least_ms, least_ms} : LoadCost{whole_ms, std::min(whole_ms, least_ms)}};
}

// The time of a step in a state where one was seen, else that in another state, a resident one first.
std::optional<double> MsOf(const SideMemory& side, StartState state, SeenSteps PhotoTimes::*step,
                           const SeenStep& amounts) {
  std::optional<double> ms = (side.photo[size_t(state)].*step).MsOf(amounts.first, amounts.second);
  for (size_t s = 0; s < kStartStates && !ms; ++s)
    ms = (side.photo[s].*step).MsOf(amounts.first, amounts.second);
  return ms;
}

PictureCosts PictureOf(const SideMemory& side, StartState state, const PhotoAmounts& photo) {
  return {.decode_ms = MsOf(side, state, &PhotoTimes::decode, photo.Decoded(0)),
          .scale_ms = MsOf(side, state, &PhotoTimes::scale, photo.Scaled(0))};
}

}  // namespace

void Learn(SiteMemory& memory, const ObservedExchange& exchange) { Remember(memory.exchanges, exchange); }

bool HasLoad(const SideMemory& device) { return LoadOf(device, StartState::kKilled, {}, {}).has_value(); }

void LearnLoad(SideMemory& device, StartState state, MissingParts missing, double ms) {
  device.load[size_t(state)][HasSession(state) ? 0 : missing.to_ulong()].Learn(ms);
}

std::optional<LoadNow> LoadOf(const SideMemory& device, StartState state, MissingParts missing,
                              const PartCosts& parts) {
  if (state == StartState::kResident) return LoadNow{};
  if (HasSession(state)) missing.reset();
  std::optional<LoadNow> load = LoadWith(SeenFrom(device, size_t(state)), parts, missing);
  if (load) return load;
  for (size_t s = 0; s < kStartStates; ++s) {
    const std::optional<LoadNow> other = LoadWith(SeenFrom(device, s), parts, missing);
    if (other && (!load || other->ms > load->ms)) load = other;
  }
  return load;
}

NetworkLink LinkOf(const NetworkLink& prior, const SiteMemory& memory) {
  LinkEstimate estimate(prior);
  estimate.Observe(memory.exchanges);
  return estimate.link();
}

std::string ToJson(const SiteMemory& memory) {
  Json json{{"version", kVersion},
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
    WholeNumber(Object(json, where, "the file").at("version"), where, "version", kVersion, kVersion);
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

SiteCosts CostsOf(const Graph& graph, const SiteMemory& memory, const NetworkLink& link, const SiteNow& now,
                  const std::optional<SiteLayers>& layers) {
  const SideMemory &device = memory.device, &server = memory.server;
  const std::optional<LoadNow> load = LoadOf(device, now.state, now.missing, now.part_ms);
  if (!load || !device.compute.ms())
    Fail(Code::kFailedPrecondition, "site", "the device's times are not known");
  if (now.server_answers && !server.compute.ms())
    Fail(Code::kFailedPrecondition, "site", "the server's time to compute is not known");
  SiteCosts costs;
  const double home_ms = device.home.ms().value_or(*device.compute.ms());
  costs.pool.processors = {Side("device", home_ms, layers ? layers->device : WorkOf(graph))};
  costs.pool.processors[0].power = now.power;
  if (device.home.ms()) costs.device_ms = device.compute.ms();
  if (now.server_answers)
    AddServer(costs, Side("server", *server.compute.ms(), layers ? layers->server : WorkOf(graph)), link);
  costs.connection = now.connection;
  costs.server_wait_ms = now.server_wait_ms;
  costs.ask_ms = now.ask_ms;
  costs.asked_ms = now.asked_ms;
  costs.state = now.state;
  const size_t state = size_t(now.state), program = size_t(now.program);
  const std::optional<double> own_ms = device.start[program].ms();
  costs.start_ms[state] = own_ms ? now.process_ms[program] + *own_ms : now.start_ms[program];
  costs.loads[state] = LoadCost{load->ms, load->ms};
  costs.load_terms = load->terms;
  for (LoadTerm& term : costs.load_terms) term.why = now.why_missing[size_t(term.part)];
  AddCutLoad(memory, now, costs);
  costs.cut.ready = now.ready_cut;
  const PhotoAmounts amounts(now.file_bytes, now.pixels);
  PhotoCosts photo;
  photo.file_bytes = std::max<int64_t>(1, now.file_bytes);
  photo.scaled_bytes = std::max<int64_t>(1, int64_t(memory.scaled_bytes.value_or(1)));
  photo.device = PictureOf(device, now.program, amounts);
  photo.device.encode_scaled_ms = device.small.ms();
  photo.server = PictureOf(server, StartState::kResident, amounts);
  photo.server.decode_scaled_ms = server.small.ms();
  if (!photo.server.decode_ms) photo.server.decode_ms = photo.device.decode_ms;
  if (!photo.server.scale_ms) photo.server.scale_ms = photo.device.scale_ms;
  costs.photo = photo;
  return costs;
}

}  // namespace mete::serve

#include "plan/site/ways.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace mete {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

double UsPerByte(double mbit_per_s) { return 8 / mbit_per_s; }

// Adds a time of a photo, or says that it is not known, the first of these alone.
void AddMs(const std::optional<double>& ms, const std::string& what, double& sum, SiteWay& way) {
  if (ms) sum += *ms;
  else if (way.why_not.empty()) way.why_not = fmt::format("the time to {} is not known", what);
}

// The price of sending the scaled picture.
double PriceOfScaled(const PhotoCosts& photo, const CutRates& rates) {
  const auto &encode_ms = photo.device.encode_scaled_ms, &decode_ms = photo.server.decode_scaled_ms;
  if (!encode_ms || !decode_ms) return kNever;
  return double(photo.scaled_bytes) * rates.up_byte + *encode_ms * 1e3 * rates.device_us +
         *decode_ms * 1e3 * rates.server_us;
}

}  // namespace

SiteModel::SiteModel(const Graph& graph, const SiteCosts& costs) : costs_(costs), cuts_(graph) {
  Verify(costs, graph);
  if (!costs.cut.ready.empty()) CheckCut(cuts_, costs.cut.ready);
}

SiteWay SiteModel::Without(SiteCandidate candidate, std::string why_not) const {
  SiteWay way;
  way.candidate = candidate;
  way.why_not = std::move(why_not);
  return way;
}

SiteWay SiteModel::Device(const Plan& plan) const {
  SiteWay way = Without(SiteCandidate::kDevice, "");
  way.on_device.assign(cuts_.layers.size(), true);
  Amounts amounts{.device_ms = costs_.device_ms.value_or(plan.predicted_us * 1e-3), .asks_server = false};
  AddLoad(way.on_device, way, amounts);
  AddPicture(Input::kStays, way, amounts);
  Rate(way, amounts);
  if (costs_.device_ms) return way;  // by the power of the home, which is that of the whole device then
  way.period_ms = amounts.device_picture_ms + plan.period_us * 1e-3;
  way.joules.reset();
  const PoolCosts device = DevicePool(costs_);
  const bool known = std::all_of(device.processors.begin(), device.processors.end(),
                                 [](const ProcessorCosts& p) { return p.power.has_value(); });
  if (!known) return way;
  const double idle_w = IdleWatts(device, ProcessorsOn(plan));
  way.joules = plan.joules + idle_w * way.steps.upload_ms * 1e-3 +
               (idle_w + home().power->compute_w) * (way.steps.load_ms + way.steps.preprocess_ms) * 1e-3;
  return way;
}

SiteWay SiteModel::RawPhoto() const {
  if (!costs_.has_server) return Without(SiteCandidate::kRawPhoto, "there is no server");
  if (!costs_.photo) return Without(SiteCandidate::kRawPhoto, "the request is a tensor and no photo");
  SiteWay way = Without(SiteCandidate::kRawPhoto, "");
  way.on_device.assign(cuts_.layers.size(), false);
  Amounts amounts;
  AddLayers(way.on_device, way, amounts);
  amounts.up_bytes = costs_.photo->file_bytes;
  AddMs(costs_.photo->server.decode_ms, "decode a photo on the server", amounts.server_picture_ms, way);
  AddMs(costs_.photo->server.scale_ms, "scale a photo on the server", amounts.server_picture_ms, way);
  Rate(way, amounts);
  return way;
}

SiteWay SiteModel::ScaledPhoto() const {
  SiteWay way = Cut(OnDevice(cuts_.layers.size(), false));
  way.candidate = SiteCandidate::kScaledPhoto;
  return way;
}

SiteWay SiteModel::Cut(const OnDevice& on_device) const {
  if (!costs_.has_server) return Without(SiteCandidate::kCut, "there is no server");
  SiteWay way = Without(SiteCandidate::kCut, "");
  way.on_device = on_device;
  Amounts amounts;
  AddLayers(on_device, way, amounts);
  amounts.prepares_cut = HasBothSides(on_device) && on_device != costs_.cut.ready;
  if (amounts.prepares_cut || !HasBothSides(on_device)) AddLoad(on_device, way, amounts);
  AddPicture(SentBy(cuts_, on_device, 0).input ? Input::kSent : Input::kStays, way, amounts);
  Rate(way, amounts);
  return way;
}

double SiteModel::LeastCutMs() const {
  const ProcessorCosts& server = ServerOf(costs_);
  double us = home().share_us + server.share_us;
  for (size_t l = 0; l < cuts_.layers.size(); ++l) {
    const LayerCost &here = home().layers[l], &there = server.layers[l];
    us += std::min(here.can() ? here.us : kNever, there.can() ? there.us : kNever);
  }
  SiteWay way = Without(SiteCandidate::kCut, "");
  Amounts amounts{.device_ms = us * 1e-3};
  AddPicture(Input::kStays, way, amounts);
  Rate(way, amounts);
  return way.steps.total_ms();
}

void SiteModel::AddLayers(const OnDevice& on_device, SiteWay& way, Amounts& amounts) const {
  for (const bool here : {true, false}) {
    if (std::find(on_device.begin(), on_device.end(), here) == on_device.end()) continue;
    const ProcessorCosts& side = here ? home() : ServerOf(costs_);
    double us = side.share_us;
    for (size_t l = 0; l < on_device.size(); ++l) {
      if (on_device[l] != here) continue;
      if (!side.layers[l].can() && way.why_not.empty())
        way.why_not = fmt::format("{} cannot compute layer '{}': {}", side.name, cuts_.layers[l].name,
                                  side.layers[l].why_not);
      us += side.layers[l].us;
    }
    (here ? amounts.device_ms : amounts.server_ms) = us * 1e-3;
  }
  const Sent sent = SentBy(cuts_, on_device, costs_.photo ? costs_.photo->scaled_bytes : 0);
  if (!sent.possible && way.why_not.empty())
    way.why_not = "the device would need what the server makes, or send values of unknown sizes";
  amounts.up_bytes = sent.up_bytes;
  amounts.down_bytes = sent.down_bytes;
}

void SiteModel::AddPicture(Input input, SiteWay& way, Amounts& amounts) const {
  if (!costs_.photo) return;
  const PictureCosts &device = costs_.photo->device, &server = costs_.photo->server;
  AddMs(device.decode_ms, "decode a photo on the device", amounts.device_picture_ms, way);
  AddMs(device.scale_ms, "scale a photo on the device", amounts.device_picture_ms, way);
  if (input == Input::kStays) return;
  AddMs(device.encode_scaled_ms, "encode the scaled photo on the device", amounts.device_picture_ms, way);
  AddMs(server.decode_scaled_ms, "decode the scaled photo on the server", amounts.server_picture_ms, way);
}

void SiteModel::AddLoad(const OnDevice& on_device, SiteWay& way, Amounts& amounts) const {
  double part = 0;
  for (size_t l = 0; l < on_device.size(); ++l) part += on_device[l] ? cuts_.weights[l] : 0;
  if (std::find(on_device.begin(), on_device.end(), true) == on_device.end()) return;
  const bool is_cut = HasBothSides(on_device);
  const std::optional<LoadCost> load = is_cut && costs_.cut.load ? costs_.cut.load : costs_.load();
  if (!load) {
    if (way.why_not.empty())
      way.why_not = fmt::format("the time to load the model from the state '{}' is not known",
                                StartStates()[size_t(costs_.state)]);
    return;
  }
  if (!is_cut) way.load_terms = costs_.load_terms;
  amounts.load_ms = !is_cut ? load->ms : load->least_ms + part * (load->ms - load->least_ms);
}

void SiteModel::Rate(SiteWay& way, const Amounts& a) const {
  const NetworkLink& link = costs_.link;
  way.up_bytes = a.up_bytes;
  way.down_bytes = a.down_bytes;
  way.device_picture_ms = a.device_picture_ms;
  way.server_picture_ms = a.server_picture_ms;
  if (a.asks_server) way.upload = PartsOfExchange(link, a.up_bytes, a.down_bytes, costs_.connection);
  way.device_ms = a.device_ms;
  way.server_ms = a.server_ms;
  way.wait_ms = a.asks_server ? costs_.server_wait_ms : 0;
  const double start_ms = costs_.start_ms[size_t(costs_.state)];
  way.ask_ms = costs_.asked_ms + (a.asks_server ? costs_.ask_ms : 0);
  way.steps.load_ms = start_ms + a.load_ms + (a.prepares_cut ? costs_.cut.ready_ms : 0) +
                      (a.asks_server ? costs_.server_load.ms : 0);
  way.steps.preprocess_ms = a.device_picture_ms + a.server_picture_ms;
  way.steps.upload_ms = way.ask_ms + way.upload.ms() + (a.prepares_cut ? costs_.cut.stream_ms : 0);
  way.steps.compute_ms = a.device_ms + a.server_ms + way.wait_ms;
  way.late_ms = way.steps.total_ms() + (link.late_ratio - 1) * way.steps.upload_ms;
  way.period_ms = std::max({a.device_picture_ms + a.device_ms, a.server_picture_ms + a.server_ms,
                            double(a.up_bytes) * UsPerByte(link.up_mbit_per_s) * 1e-3,
                            double(a.down_bytes) * UsPerByte(link.down_mbit_per_s) * 1e-3});
  const std::optional<PowerCosts>& power = home().power;
  if (!power) return;
  // Guess: a device takes as much power while it loads a model or decodes a photo as while it computes.
  way.joules = power->idle_w * way.steps.total_ms() * 1e-3 +
               power->compute_w * (start_ms + a.load_ms + a.device_picture_ms + a.device_ms) * 1e-3 +
               power->sent_joules_per_byte * double(a.up_bytes) +
               power->received_joules_per_byte * double(a.down_bytes);
}

CutPrices SiteModel::Prices(const CutRates& rates) const {
  const LoadCost load = costs_.cut.load.value_or(costs_.load().value_or(LoadCost{}));
  const auto price_of = [](const LayerCost& layer, double rate) {
    return layer.can() ? layer.us * rate : kNever;
  };
  CutPrices prices;
  for (size_t l = 0; l < cuts_.layers.size(); ++l) {
    prices.device.push_back(price_of(home().layers[l], rates.device_us) +
                            cuts_.weights[l] * (load.ms - load.least_ms) * 1e3 * rates.load_us);
    prices.server.push_back(price_of(ServerOf(costs_).layers[l], rates.server_us));
  }
  // A rate may be 0, which makes nothing free that is not known.
  const auto price_of_bytes = [](const std::optional<int64_t>& bytes, double rate) {
    return bytes ? double(*bytes) * rate : kNever;
  };
  for (const CutValue& value : cuts_.values) {
    const bool is_picture = value.producer < 0 && costs_.photo;
    if (value.is_answer)
      prices.server[size_t(value.producer)] += price_of_bytes(value.bytes, rates.down_byte);
    prices.values.push_back(
        {value.producer, value.readers,
         is_picture ? PriceOfScaled(*costs_.photo, rates) : price_of_bytes(value.bytes, rates.up_byte)});
  }
  return prices;
}

CutRates SiteModel::TimeRates() const {
  return {1, 1, UsPerByte(costs_.link.up_mbit_per_s), UsPerByte(costs_.link.down_mbit_per_s), 1};
}

std::optional<CutRates> SiteModel::EnergyRates() const {
  if (!home().power) return std::nullopt;
  const PowerCosts& power = *home().power;
  const CutRates time = TimeRates();
  const double idle = power.idle_w * 1e-6, busy = idle + power.compute_w * 1e-6;
  return CutRates{busy, idle, idle * time.up_byte + power.sent_joules_per_byte,
                  idle * time.down_byte + power.received_joules_per_byte, busy};
}

}  // namespace mete

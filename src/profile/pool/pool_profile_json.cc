#include "base/error.h"
#include "base/json.h"
#include "profile/pool/pool_profile.h"

namespace mete {
namespace {

using Json = nlohmann::ordered_json;

// Since 9: by how much processors slow each other. Since 10: which layers a processor cannot compute.
constexpr int kFormat = 10;

Json SizesJson(const LinkProfile& link) {
  Json sizes = Json::array();
  for (const MessageTimes& t : link.sizes)
    sizes.push_back({{"bytes", t.bytes},
                     {"up_us", t.up_us},
                     {"down_us", t.down_us},
                     {"busy_up_us", t.busy_up_us},
                     {"busy_down_us", t.busy_down_us}});
  return sizes;
}

LinkProfile LinkFrom(const Json& json) {
  LinkProfile link{json.at("round_trip_us"),
                   json.at("message_us"),
                   json.at("up_mbit_per_s"),
                   json.at("down_mbit_per_s"),
                   json.at("busy_up_mbit_per_s"),
                   json.at("busy_down_mbit_per_s"),
                   {}};
  for (const Json& t : json.at("sizes"))
    link.sizes.push_back(
        {t.at("bytes"), t.at("up_us"), t.at("down_us"), t.at("busy_up_us"), t.at("busy_down_us")});
  return link;
}

Json LinkCostsJson(const LinkCosts& link) {
  return {link.latency_us, link.message_us, link.up_mbit_per_s, link.down_mbit_per_s};
}

LinkCosts LinkCostsFrom(const Json& json) { return {json.at(0), json.at(1), json.at(2), json.at(3)}; }

Json ProcessorJson(const ProcessorCosts& processor) {
  Json json{{"name", processor.name},
            {"link", LinkCostsJson(processor.link)},
            {"memory", Json()},
            {"co_run", Json()},
            {"share_us", processor.share_us},
            {"hardware", processor.hardware},
            {"us", Json::array()},
            {"least_us", Json::array()},
            {"least_by_channels_us", Json::array()},
            {"why_not", Json::array()}};
  if (const auto& memory = processor.memory)
    json["memory"] = {{"device", memory->device}, {"link", LinkCostsJson(memory->link)}};
  if (const auto& co_run = processor.co_run)
    json["co_run"] = {{"memory", co_run->memory}, {"slowed", co_run->slowed}};
  for (const LayerCost& layer : processor.layers) {
    json["us"].push_back(layer.us);
    json["least_us"].push_back(layer.least_us);
    const auto& by_channels_us = layer.least_by_channels_us;
    json["least_by_channels_us"].push_back(by_channels_us ? Json(*by_channels_us) : Json());
    json["why_not"].push_back(layer.can() ? Json() : Json(layer.why_not));
  }
  return json;
}

ProcessorCosts ProcessorFrom(const Json& json) {
  ProcessorCosts processor{json.at("name"), LinkCostsFrom(json.at("link")), {}};
  if (const Json& memory = json.at("memory"); !memory.is_null())
    processor.memory = MemoryLink{memory.at("device"), LinkCostsFrom(memory.at("link"))};
  if (const Json& co_run = json.at("co_run"); !co_run.is_null())
    processor.co_run = CoRun{co_run.at("memory"), co_run.at("slowed")};
  const std::vector<double> us = json.at("us"), least_us = json.at("least_us");
  const Json &by_channels_us = json.at("least_by_channels_us"), &why_not = json.at("why_not");
  if (us.size() != least_us.size() || us.size() != by_channels_us.size() || us.size() != why_not.size())
    Invalid(processor.name, "has lists of other lengths; got {}, {}, {} and {}", us.size(), least_us.size(),
            by_channels_us.size(), why_not.size());
  processor.share_us = json.at("share_us");
  processor.hardware = json.at("hardware");
  for (size_t i = 0; i < us.size(); ++i) {
    processor.layers.push_back({us[i], least_us[i]});
    if (const Json& least = by_channels_us.at(i); !least.is_null())
      processor.layers.back().least_by_channels_us = least.get<double>();
    if (const Json& why = why_not.at(i); !why.is_null()) processor.layers.back().why_not = why;
  }
  return processor;
}

PoolProfile From(const Json& json) {
  PoolProfile profile;
  if (json.at("format") != kFormat)
    Invalid("format", "is of another version of mete; got {}, expected {}", json.at("format").dump(),
            kFormat);
  profile.model = json.at("model");
  profile.digest = json.at("digest");
  profile.seconds = json.at("seconds");
  profile.prepare_seconds = json.at("prepare_seconds");
  for (const Json& link : json.at("links")) profile.links.push_back(LinkFrom(link));
  for (const Json& processor : json.at("processors"))
    profile.costs.processors.push_back(ProcessorFrom(processor));
  if (profile.costs.processors.empty() || profile.links.size() != profile.costs.processors.size())
    Invalid("links", "are not one a processor");
  Verify(profile.costs, profile.costs.processors[0].layers.size());
  return profile;
}

Json LinkJson(const LinkProfile& link) {
  return {{"round_trip_us", link.round_trip_us},
          {"message_us", link.message_us},
          {"up_mbit_per_s", link.up_mbit_per_s},
          {"down_mbit_per_s", link.down_mbit_per_s},
          {"busy_up_mbit_per_s", link.busy_up_mbit_per_s},
          {"busy_down_mbit_per_s", link.busy_down_mbit_per_s},
          {"sizes", SizesJson(link)}};
}

}  // namespace

std::string ToJson(const LinkProfile& link) { return LinkJson(link).dump(); }

std::string ToJson(const PoolProfile& profile) {
  Json json{{"format", kFormat},
            {"model", profile.model},
            {"digest", profile.digest},
            {"seconds", profile.seconds},
            {"prepare_seconds", profile.prepare_seconds},
            {"links", Json::array()},
            {"processors", Json::array()}};
  for (const LinkProfile& link : profile.links) json["links"].push_back(LinkJson(link));
  for (const ProcessorCosts& processor : profile.costs.processors)
    json["processors"].push_back(ProcessorJson(processor));
  return json.dump();
}

PoolProfile PoolProfileFromJson(std::string_view text, const std::string& where) {
  try {
    return From(ParseJson(text, where));
  } catch (const Json::exception& error) {
    Invalid(where, "is no profile of processors: {}; try mete profile again", Printable(ReasonOf(error)));
  } catch (const Error& error) {
    Invalid(where, "is a profile of processors that cannot be: {}; try mete profile again", error.what());
  }
}

}  // namespace mete

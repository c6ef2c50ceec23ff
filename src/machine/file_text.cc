// Prints a machine file as JSON for programs: the machine's JSON with the figures added.
#include "base/json.h"
#include "machine/file.h"

namespace mete {
namespace {

using Json = nlohmann::ordered_json;

Json FigureJson(const Figure& f) { return {{"value", f.value}, {"source", f.source}}; }

Json FiguresJson(const ClusterFigures& figures) {
  Json j = Json::object();
  for (const ClusterFigureKey& k : ClusterFigureKeys()) j[k.key] = FigureJson(figures.*k.figure);
  for (const Figure& f : figures.cache_kib) j["cache_kib"].push_back(FigureJson(f));
  return j;
}

}  // namespace

std::string ToJson(const MachineFile& file) {
  Json j = Json::parse(ToJson(file.machine));
  j["memory"] = {{"gib", FigureJson(file.memory_gib)},
                 {"gbytes_per_s", FigureJson(file.memory_gbytes_per_s)}};
  for (size_t i = 0; i < file.clusters.size(); ++i) {
    j["clusters"][i]["source"] = file.sources[i];
    j["clusters"][i]["f32_gflops"] = file.clusters[i].f32_gflops();
    j["clusters"][i]["int8_gops"] = file.clusters[i].int8_gops();
    j["clusters"][i]["figures"] = FiguresJson(file.clusters[i]);
  }
  return JsonText(j, 2);
}

}  // namespace mete

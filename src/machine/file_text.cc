// Prints a machine file as JSON for programs: the machine's JSON with the figures added.
#include "base/json.h"
#include "machine/file.h"

namespace mete {
namespace {

using Json = nlohmann::ordered_json;

Json FigureJson(const Figure& f) { return {{"value", f.value}, {"source", f.source}}; }

template <class Figures>
Json FiguresJson(const Figures& figures, std::span<const FigureKey<Figures>> keys) {
  Json j = Json::object();
  for (const FigureKey<Figures>& k : keys) j[k.key] = FigureJson(figures.*k.figure);
  return j;
}

Json ClusterJson(const ClusterFigures& figures) {
  Json j = FiguresJson(figures, ClusterFigureKeys());
  for (const Figure& f : figures.cache_kib) j["cache_kib"].push_back(FigureJson(f));
  return j;
}

Json GpuJson(const DescribedGpu& gpu) {
  const GpuFigures& f = gpu.figures;
  return {{"name", gpu.name},
          {"source", gpu.source},
          {"f32_gflops", f.peak_gflops(f.f32_flops_per_cycle)},
          {"f16_gflops", f.peak_gflops(f.f16_flops_per_cycle)},
          {"int8_gops", f.peak_gflops(f.int8_ops_per_cycle)},
          {"figures", FiguresJson(f, GpuFigureKeys())}};
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
    j["clusters"][i]["figures"] = ClusterJson(file.clusters[i]);
  }
  j["gpus"] = Json::array();
  for (const DescribedGpu& gpu : file.gpus) j["gpus"].push_back(GpuJson(gpu));
  return JsonText(j, 2);
}

}  // namespace mete

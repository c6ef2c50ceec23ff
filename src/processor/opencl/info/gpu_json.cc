#include "processor/opencl/info/gpu_json.h"

#include <cmath>

#include "base/error.h"

namespace mete::opencl {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kLongestText = 4000;  // characters; guess: names have up to 100, a compiler's words 2000
constexpr size_t kLongestList = 100;   // guess: of GPUs, and of reasons

// Calls visit(key, member) for every fact, so that writing and reading know the same ones.
template <class Facts, class Visit>
void VisitFacts(Facts& facts, Visit visit) {
  visit("name", facts.name);
  visit("type", facts.type);
  visit("model", facts.model);
  visit("vendor", facts.vendor);
  visit("platform", facts.platform);
  visit("driver", facts.driver);
  visit("version", facts.version);
  visit("compute_units", facts.compute_units);
  visit("clock_mhz", facts.clock_mhz);
  visit("memory_bytes", facts.memory_bytes);
  visit("most_allocation_bytes", facts.most_allocation_bytes);
  visit("local_bytes", facts.local_bytes);
  visit("local_is_separate", facts.local_is_separate);
  visit("cache_bytes", facts.cache_bytes);
  visit("most_group_items", facts.most_group_items);
  visit("most_group_sizes", facts.most_group_sizes);
  visit("base_alignment", facts.base_alignment);
  visit("float_vector", facts.float_vector);
  visit("has_unified_memory", facts.has_unified_memory);
  visit("has_svm", facts.has_svm);
  visit("has_fine_svm", facts.has_fine_svm);
  visit("states_f16", facts.states_f16);
  visit("states_f64", facts.states_f64);
  visit("states_dot8", facts.states_dot8);
  visit("most_sub_devices", facts.most_sub_devices);
}

template <class Facts, class Visit>
void VisitProbes(Facts& facts, Visit visit) {
  visit("computes_f32", facts.computes_f32);
  visit("stores_f16", facts.stores_f16);
  visit("computes_f16", facts.computes_f16);
  visit("dot8", facts.dot8);
  visit("maps_in_place", facts.maps_in_place);
  visit("uses_host_memory", facts.uses_host_memory);
  visit("shares_memory", facts.shares_memory);
  visit("small_map", facts.small_map);
  visit("map", facts.map);
  visit("host_map", facts.host_map);
  visit("read", facts.read);
  visit("host_copy", facts.host_copy);
  visit("f32_gflops", facts.f32_gflops);
  visit("f16_gflops", facts.f16_gflops);
  visit("launch_drained", facts.launch_drained);
  visit("launch_asleep", facts.launch_asleep);
  visit("launch_running", facts.launch_running);
  visit("build_ms", facts.build_ms);
  visit("out_of_time", facts.out_of_time);
  visit("problems", facts.problems);
}

struct Reader {
  const Json& object;
  const std::string& where;

  const Json& At(const char* key) const {
    const auto found = object.find(key);
    if (found == object.end()) Invalid(where, "key '{}' not found", key);
    return *found;
  }
  void operator()(const char* key, std::string& text) const { text = Text(key, At(key)); }
  std::string Text(const char* key, const Json& j) const {
    if (!j.is_string() || j.get_ref<const std::string&>().size() > kLongestText)
      Invalid(where, "'{}' is no text of at most {} characters", key, kLongestText);
    return Printable(j.get<std::string>());
  }
  void operator()(const char* key, double& number) const { number = Number(key, At(key)); }
  double Number(const char* key, const Json& j) const {
    if (!j.is_number() || !(j.get<double>() >= 0 && std::isfinite(j.get<double>())))
      Invalid(where, "'{}' is no number from 0 on", key);
    return j.get<double>();
  }
  void operator()(const char* key, Times& times) const {
    const Reader of{Object(At(key), where, key), where};
    times = {Number(key, of.At("median_us")), Number(key, of.At("p95_us"))};
  }
  void operator()(const char* key, std::vector<std::string>& texts) const {
    for (const Json& j : Entries(key)) texts.push_back(Text(key, j));
  }
  const Json& Entries(const char* key) const {
    const Json& j = List(At(key), where, key);
    if (j.size() > kLongestList)
      Invalid(where, "'{}' has {} entries, expected at most {}", key, j.size(), kLongestList);
    return j;
  }
  void operator()(const char* key, int64_t& number) const { number = WholeNumber(At(key), where, key, 0); }
  void operator()(const char* key, bool& flag) const {
    const Json& j = At(key);
    if (!j.is_boolean()) Invalid(where, "'{}' is neither true nor false", key);
    flag = j.get<bool>();
  }
  void operator()(const char* key, int64_t (&sizes)[3]) const {
    const Json& j = List(At(key), where, key);
    if (j.size() != 3) Invalid(where, "'{}' has {} numbers, expected 3", key, j.size());
    for (size_t i = 0; i < 3; ++i) sizes[i] = WholeNumber(j[i], where, key, 0);
  }
};

struct Writer {
  Json& object;

  void operator()(const char* key, const auto& value) const { object[key] = value; }
  void operator()(const char* key, const Times& times) const {
    object[key] = {{"median_us", times.median_us}, {"p95_us", times.p95_us}};
  }
};

Json ToJson(const Gpu& gpu) {
  Json j = Json::object();
  VisitFacts(gpu.facts, Writer{j});
  VisitProbes(gpu.proved, Writer{j});
  return j;
}

Gpu GpuFromJson(const Json& j, const std::string& where) {
  Gpu gpu;
  const Reader read{Object(j, where, "a GPU"), where};
  VisitFacts(gpu.facts, read);
  VisitProbes(gpu.proved, read);
  return gpu;
}

}  // namespace

Json ToJson(const GpuList& list) {
  Json j{{"gpus", Json::array()}, {"left_out", list.left_out}, {"drivers", list.drivers}};
  for (const Gpu& gpu : list.gpus) j["gpus"].push_back(ToJson(gpu));
  return j;
}

GpuList GpuListFromJson(const Json& j, const std::string& where) {
  GpuList list;
  const Reader read{Object(j, where, "a list of GPUs"), where};
  for (const Json& gpu : read.Entries("gpus")) list.gpus.push_back(GpuFromJson(gpu, where));
  read("left_out", list.left_out);
  read("drivers", list.drivers);
  return list;
}

}  // namespace mete::opencl

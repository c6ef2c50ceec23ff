#include "processor/opencl/info/gpu_json.h"

#include "base/error.h"

namespace mete::opencl {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kLongestText = 1000;  // characters; guess: names of drivers have up to 100

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
  visit("sub_buffer_alignment", facts.sub_buffer_alignment);
  visit("float_vector", facts.float_vector);
  visit("has_unified_memory", facts.has_unified_memory);
  visit("has_svm", facts.has_svm);
  visit("has_fine_svm", facts.has_fine_svm);
  visit("states_f16", facts.states_f16);
  visit("states_f64", facts.states_f64);
  visit("states_dot8", facts.states_dot8);
  visit("most_sub_devices", facts.most_sub_devices);
}

struct Reader {
  const Json& object;
  const std::string& where;

  const Json& At(const char* key) const {
    const auto found = object.find(key);
    if (found == object.end()) Invalid(where, "key '{}' not found", key);
    return *found;
  }
  void operator()(const char* key, std::string& text) const {
    const Json& j = At(key);
    if (!j.is_string() || j.get_ref<const std::string&>().size() > kLongestText)
      Invalid(where, "'{}' is no text of at most {} characters", key, kLongestText);
    text = Printable(j.get<std::string>());
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

}  // namespace

Json ToJson(const DeviceFacts& facts) {
  Json j = Json::object();
  VisitFacts(facts, [&](const char* key, const auto& value) { j[key] = value; });
  return j;
}

DeviceFacts DeviceFactsFromJson(const Json& j, const std::string& where) {
  DeviceFacts facts;
  VisitFacts(facts, Reader{Object(j, where, "a device"), where});
  return facts;
}

}  // namespace mete::opencl

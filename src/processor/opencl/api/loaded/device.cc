// The devices of all drivers, in an order that gives each its name.
#include <algorithm>
#include <charconv>
#include <array>
#include <mutex>
#include <optional>

#include <fmt/ranges.h>

#include "base/error.h"
#include "processor/opencl/api/loaded/platforms.h"
#include "processor/opencl/api/loaded/state.h"
#include "processor/opencl/api/loaded/text_of.h"

namespace mete::opencl {
namespace {

constexpr cl_uint kMostDevices = 64;  // guess, of a driver

// Reads what a driver states about a device. Numbers that it does not state are 0.
struct Reader {
  const Functions& cl;
  cl_device_id id;

  std::string Text(cl_device_info which) const {
    return Printable(TextOf(
        [&](size_t bytes, void* to, size_t* all) { return cl.clGetDeviceInfo(id, which, bytes, to, all); }));
  }
  template <class T>
  T Number(cl_device_info which) const {
    T value{};
    return cl.clGetDeviceInfo(id, which, sizeof value, &value, nullptr) == CL_SUCCESS ? value : T{};
  }
  int64_t UInt(cl_device_info which) const { return int64_t(Number<cl_uint>(which)); }
  int64_t ULong(cl_device_info which) const { return int64_t(Number<cl_ulong>(which)); }
  int64_t Size(cl_device_info which) const { return int64_t(Number<size_t>(which)); }
  bool Bool(cl_device_info which) const { return Number<cl_bool>(which) == CL_TRUE; }

  // Returns the number of compute units if the device can be divided into single ones, else 0.
  int64_t MostSubDevices() const {
    constexpr size_t kKinds = 8;  // OpenCL 1.2 has three kinds of division
    cl_device_partition_property kinds[kKinds] = {};
    size_t bytes = 0;
    if (cl.clGetDeviceInfo(id, CL_DEVICE_PARTITION_PROPERTIES, sizeof kinds, kinds, &bytes) != CL_SUCCESS)
      return 0;
    auto* end = kinds + std::min(kKinds, bytes / sizeof kinds[0]);
    const bool equally = std::find(kinds, end, CL_DEVICE_PARTITION_EQUALLY) != end;
    return equally ? UInt(CL_DEVICE_PARTITION_MAX_SUB_DEVICES) : 0;
  }
};

const char* TypeOf(cl_device_type type) {
  if (type & CL_DEVICE_TYPE_GPU) return "gpu";
  if (type & CL_DEVICE_TYPE_ACCELERATOR) return "accelerator";
  return "cpu";
}

// The extension as a word of the list, which spaces divide.
bool HasWord(const std::string& list, const std::string& word) {
  return (" " + list + " ").find(" " + word + " ") != std::string::npos;
}

void ReadSizes(const Reader& read, DeviceFacts& facts) {
  facts.compute_units = read.UInt(CL_DEVICE_MAX_COMPUTE_UNITS);
  facts.clock_mhz = read.UInt(CL_DEVICE_MAX_CLOCK_FREQUENCY);
  facts.memory_bytes = read.ULong(CL_DEVICE_GLOBAL_MEM_SIZE);
  facts.most_allocation_bytes = read.ULong(CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  facts.local_bytes = read.ULong(CL_DEVICE_LOCAL_MEM_SIZE);
  facts.local_is_separate = read.UInt(CL_DEVICE_LOCAL_MEM_TYPE) == CL_LOCAL;
  facts.cache_bytes = read.ULong(CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
  facts.most_group_items = read.Size(CL_DEVICE_MAX_WORK_GROUP_SIZE);
  const auto sizes = read.Number<std::array<size_t, 3>>(CL_DEVICE_MAX_WORK_ITEM_SIZES);
  for (size_t i = 0; i < 3; ++i) facts.most_group_sizes[i] = int64_t(sizes[i]);
  facts.base_alignment = read.UInt(CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;  // from bits
  facts.float_vector = read.UInt(CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT);
  facts.most_sub_devices = read.MostSubDevices();
}

DeviceFacts FactsOf(const Functions& cl, cl_device_id id, const std::string& platform) {
  const Reader read{cl, id};
  DeviceFacts facts;
  facts.platform = platform;
  facts.type = TypeOf(read.Number<cl_device_type>(CL_DEVICE_TYPE));
  facts.model = read.Text(CL_DEVICE_NAME);
  facts.vendor = read.Text(CL_DEVICE_VENDOR);
  facts.driver = read.Text(CL_DRIVER_VERSION);
  facts.version = read.Text(CL_DEVICE_VERSION);
  ReadSizes(read, facts);
  const std::string extensions = read.Text(CL_DEVICE_EXTENSIONS);
  facts.states_f16 = HasWord(extensions, "cl_khr_fp16");
  facts.states_f64 = HasWord(extensions, "cl_khr_fp64");
  facts.states_dot8 = HasWord(extensions, "cl_khr_integer_dot_product");
  facts.has_unified_memory = read.Bool(CL_DEVICE_HOST_UNIFIED_MEMORY);
  const auto svm = read.Number<cl_bitfield>(kDeviceSvmCapabilities);
  facts.has_svm = svm & kDeviceSvmCoarse;
  facts.has_fine_svm = svm & kDeviceSvmFine;
  return facts;
}

// Returns why Mete does not use a device, or "".
std::string WhyNot(const Reader& read, const DeviceFacts& facts, CpuDevices cpu_devices) {
  if (facts.type == "cpu" && cpu_devices == CpuDevices::kLeaveOut)
    return "it is the CPU, which Mete uses without OpenCL; METE_GPU=cpu counts it as a GPU";
  if (!read.Bool(CL_DEVICE_AVAILABLE)) return "the driver says that it is not available";
  if (!read.Bool(CL_DEVICE_COMPILER_AVAILABLE)) return "the driver has no compiler";
  if (!read.Bool(CL_DEVICE_ENDIAN_LITTLE)) return "its numbers are big-endian";
  if (facts.most_allocation_bytes <= 0 || facts.compute_units <= 0) return "the driver states no size of it";
  return "";
}

void AddDevices(const Platform& of, CpuDevices cpu_devices, DeviceList& list) {
  const std::string name = Printable(TextOf([&](size_t bytes, void* to, size_t* all) {
    return of.cl.clGetPlatformInfo(of.id, CL_PLATFORM_NAME, bytes, to, all);
  }));
  cl_device_id ids[kMostDevices];
  cl_uint count = 0;
  const cl_int problem = of.cl.clGetDeviceIDs(of.id, CL_DEVICE_TYPE_ALL, kMostDevices, ids, &count);
  if (problem != CL_SUCCESS) return list.left_out.push_back(fmt::format("{}: {}", name, WordsFor(problem)));
  for (cl_uint i = 0; i < std::min(count, kMostDevices); ++i) {
    DeviceFacts facts = FactsOf(of.cl, ids[i], name);
    const std::string why = WhyNot({of.cl, ids[i]}, facts, cpu_devices);
    if (!why.empty()) list.left_out.push_back(fmt::format("{} ({}): {}", facts.model, name, why));
    else list.devices.emplace_back(std::make_shared<DeviceState>(of.cl, ids[i], false), std::move(facts));
  }
}

DeviceList NamedInOrder(DeviceList list) {
  std::stable_sort(list.devices.begin(), list.devices.end(), [](const Device& a, const Device& b) {
    return OrderOfType(a.facts().type) < OrderOfType(b.facts().type);
  });
  for (size_t i = 0; i < list.devices.size(); ++i) {
    DeviceFacts facts = list.devices[i].facts();
    facts.name = fmt::format("gpu:{}", i);
    list.devices[i] = list.devices[i].Named(std::move(facts));
  }
  return list;
}

// A name in its parts: "gpu:0/1" is unit 1 of device 0.
struct NameParts {
  size_t device = 0;
  std::optional<int64_t> unit;
};

std::optional<NameParts> Parse(const std::string& name) {
  NameParts parts;
  const char *at = name.data() + 4, *end = name.data() + name.size();
  if (!name.starts_with("gpu:")) return std::nullopt;
  auto [next, problem] = std::from_chars(at, end, parts.device);
  if (problem != std::errc()) return std::nullopt;
  if (next == end) return parts;
  int64_t unit = 0;
  auto [last, why] = std::from_chars(next + 1, end, unit);
  if (*next != '/' || why != std::errc() || last != end || unit < 0) return std::nullopt;
  parts.unit = unit;
  return parts;
}

}  // namespace

Device Device::SubDevice(int64_t unit) const {
  if (unit < 0 || unit >= facts_.most_sub_devices)
    Invalid(facts_.name, "there is no device of one compute unit; got unit {}, expected one below {}", unit,
            facts_.most_sub_devices);
  const Functions& cl = state_->cl;
  const cl_device_partition_property by[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
  std::vector<cl_device_id> all(size_t(facts_.most_sub_devices));
  cl_uint count = 0;
  Check(cl.clCreateSubDevices(state_->id, by, cl_uint(all.size()), all.data(), &count), facts_.name,
        "clCreateSubDevices");
  std::shared_ptr<const DeviceState> one;
  for (cl_uint i = 0; i < count; ++i) {
    auto state =
        std::make_shared<DeviceState>(cl, all[i], true);  // which releases those that are not asked for
    if (i == unit) one = std::move(state);
  }
  if (!one) Fail(Code::kUnavailable, facts_.name, "the driver made no compute unit {}; got {}", unit, count);
  DeviceFacts facts = FactsOf(cl, one->id, facts_.platform);
  facts.name = fmt::format("{}/{}", facts_.name, unit);
  return Device(std::move(one), std::move(facts));
}

DeviceList ListDevices(CpuDevices cpu_devices, const std::vector<std::string>& drivers) {
  // PoCL 3.1 makes its devices ready when they are first asked for, and crashes if two threads ask at once.
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  DeviceList list;
  const auto add = [&](const auto& platforms) {
    try {
      for (const Platform& platform : platforms()) AddDevices(platform, cpu_devices, list);
    } catch (const Error& e) {
      list.left_out.emplace_back(e.what());
    }
  };
  if (drivers.empty()) add([] { return PlatformsOfLoader(); });
  for (const std::string& driver : drivers) add([&] { return PlatformsOfDriver(driver); });
  return NamedInOrder(std::move(list));
}

Device OpenDevice(const std::string& name, CpuDevices cpu_devices, const std::vector<std::string>& drivers) {
  const auto parts = Parse(name);
  if (!parts) Invalid(Printable(name), "no name of a GPU; expected 'gpu:0', or 'gpu:0/1' for a unit of it");
  const DeviceList list = ListDevices(cpu_devices, drivers);
  if (parts->device >= list.devices.size())
    Fail(Code::kUnavailable, name, "there is no such GPU; there {} {}{}{}",
         list.devices.size() == 1 ? "is" : "are", list.devices.size(),
         list.left_out.empty() ? "" : "; left out: ", fmt::join(list.left_out, "; "));
  const Device& device = list.devices[parts->device];
  return parts->unit ? device.SubDevice(*parts->unit) : device;
}

}  // namespace mete::opencl

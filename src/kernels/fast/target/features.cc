#include "kernels/fast/target/features.h"

#include <array>

#include "base/error.h"
#include "hwy/base.h"
#include "kernels/fast/target/target.h"

#if HWY_ARCH_X86_64
#include <cpuid.h>
#elif HWY_ARCH_ARM_A64
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace mete {
namespace {

struct Known {
  Feature feature;
  const char* name;
};
constexpr Known kKnown[] = {{Feature::kAvx512Vnni, "avx512vnni"},
                            {Feature::kAvxVnni, "avxvnni"},
                            {Feature::kAvx512Vbmi, "avx512vbmi"},
                            {Feature::kAvx512Bf16, "avx512bf16"},
                            {Feature::kDotprod, "dotprod"},
                            {Feature::kI8mm, "i8mm"},
                            {Feature::kBf16, "bf16"}};

// Whether the operating system keeps the registers that a feature uses is known from the target, which no
// code here runs without.
bool IsThere(Feature feature) {
#if HWY_ARCH_X86_64
  unsigned a = 0, b = 0, c = 0, d = 0;
  switch (feature) {
    case Feature::kAvx512Vnni: return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (c >> 11 & 1);
    case Feature::kAvxVnni: return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 4 & 1);
    case Feature::kAvx512Vbmi: return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (c >> 1 & 1);
    case Feature::kAvx512Bf16: return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 5 & 1);
    default: return false;
  }
#elif HWY_ARCH_ARM_A64
  // Linux reports what all cores of the machine have.
  switch (feature) {
    case Feature::kDotprod: return getauxval(AT_HWCAP) & HWCAP_ASIMDDP;
    case Feature::kI8mm: return getauxval(AT_HWCAP2) & HWCAP2_I8MM;
    case Feature::kBf16: return getauxval(AT_HWCAP2) & HWCAP2_BF16;
    default: return false;
  }
#endif
  (void)feature;
  return false;
}

using Features = std::array<bool, std::size(kKnown)>;

Features& Usable() {
  static Features usable = [] {
    Features there{};
    for (size_t i = 0; i < there.size(); ++i) there[i] = IsThere(kKnown[i].feature);
    return there;
  }();
  return usable;
}

size_t IndexOf(std::string_view name) {
  for (size_t i = 0; i < std::size(kKnown); ++i)
    if (name == kKnown[i].name) return i;
  std::string list;
  for (const Known& known : kKnown) list += (list.empty() ? "" : ", ") + std::string(known.name);
  Fail(Code::kFailedPrecondition, "METE_WITHOUT",
       "no such feature of processors; got '{}', expected some of {}; try METE_WITHOUT={}", name, list,
       kKnown[0].name);
}

}  // namespace

bool Has(Feature feature) {
  for (size_t i = 0; i < std::size(kKnown); ++i)
    if (kKnown[i].feature == feature) return Usable()[i];
  return false;
}

std::vector<std::string> AvailableFeatures() {
  std::vector<std::string> names;
  for (const Known& known : kKnown)
    if (IsThere(known.feature)) names.emplace_back(known.name);
  return names;
}

std::string ActiveInstructions() {
  std::string text = ActiveTarget();
  for (size_t i = 0; i < std::size(kKnown); ++i)
    if (IsThere(kKnown[i].feature) && !Usable()[i]) text += std::string(" without ") + kKnown[i].name;
  return text;
}

void ForceWithout(std::string_view names) {
  Features usable{};
  for (size_t i = 0; i < usable.size(); ++i) usable[i] = IsThere(kKnown[i].feature);
  while (!names.empty()) {
    const size_t end = std::min(names.find(','), names.size());
    usable[IndexOf(names.substr(0, end))] = false;
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  Usable() = usable;
}

}  // namespace mete

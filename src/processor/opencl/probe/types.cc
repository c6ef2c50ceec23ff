// Which types a device computes with, by results beside those of the host.
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/half.h"
#include "processor/opencl/probe/probes.h"

namespace mete::opencl {
namespace {

constexpr int kCount = 64;  // values of a probe

// Runs kernel `name`(in, out) once over kCount work-items.
template <class In, class Out>
std::vector<Out> Compute(const Context& context, const std::string& text, const std::string& name,
                         const std::vector<In>& in, const std::string& options = "") {
  Queue queue(context, {});
  Kernel kernel(Program(context, text, options), name);
  std::vector<Out> out(kCount);
  const Buffer from(context, {.bytes = int64_t(in.size() * sizeof(In))});
  const Buffer to(context, {.bytes = int64_t(out.size() * sizeof(Out))});
  queue.Write(from, 0, std::as_bytes(std::span(in)));
  kernel.Set(0, from).Set(1, to);
  queue.LaunchOnly(kernel, {.items = {kCount}});
  queue.Read(to, 0, std::as_writable_bytes(std::span(out)));
  return out;
}

// Numbers of both signs that halves hold exactly: -8 to 7.75.
std::vector<float> Quarters() {
  std::vector<float> values;
  for (int i = 0; i < kCount; ++i) values.push_back(float(i - kCount / 2) / 4);
  return values;
}

std::vector<uint16_t> Halves(const std::vector<float>& values) {
  std::vector<uint16_t> halves;
  for (float v : values) halves.push_back(F32ToF16(v));
  return halves;
}

void Expect(bool is_right, const Device& device, const char* what) {
  if (!is_right) Fail(Code::kInternal, device.facts().name, "{} are wrong", what);
}

constexpr const char* kF32 = R"(
kernel void polynomial(global const float* in, global float* out) {
  int i = get_global_id(0);
  out[i] = (in[i] * 0.5f + 3.0f) * in[i] - 0.25f;
})";

// Every half but infinities and those that are no number must come back from f32 as it was.
constexpr const char* kHalfStorage = R"(
kernel void halves(global const half* in, global half* out) {
  int i = get_global_id(0);
  float x = vload_half(i, in);
  vstore_half(x * 2.0f, i, out);
})";

// NVIDIA's compiler has halves without stating the extension, but only behind the pragma; others warn of one
// that they do not know.
constexpr const char* kF16 = R"(
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void polynomial(global const half* in, global half* out) {
  int i = get_global_id(0);
  half x = in[i];
  out[i] = (x * (half)0.5f + (half)3.0f) * x - (half)0.25f;
})";

float Polynomial(float x) { return (x * 0.5f + 3.0f) * x - 0.25f; }

// Ways to sum four products of i8, by compiler and instruction.
struct Dot8Way {
  const char* name;
  const char* options;  // of the compiler
  const char* text;
};
constexpr Dot8Way kDot8Ways[] = {
    // Khronos: cl_khr_integer_dot_product, and OpenCL C 3.0's feature of packed bytes
    {"khr", "-cl-std=CL3.0", R"(
#if !defined(__opencl_c_integer_dot_product_input_4x8bit_packed) && !defined(cl_khr_integer_dot_product)
#error "no cl_khr_integer_dot_product"
#endif
kernel void dot8(global const uint* in, global int* out) {
  int i = get_global_id(0);
  out[i] = dot_4x8packed_ss_int(in[i], in[i + 64]) + i;
})"},
    // Arm: cl_arm_integer_dot_product_accumulate_int8
    {"arm", "", R"(
#pragma OPENCL EXTENSION cl_arm_integer_dot_product_accumulate_int8 : enable
#if !defined(cl_arm_integer_dot_product_accumulate_int8)
#error "no cl_arm_integer_dot_product_accumulate_int8"
#endif
kernel void dot8(global const uint* in, global int* out) {
  int i = get_global_id(0);
  out[i] = arm_dot_acc(as_char4(in[i]), as_char4(in[i + 64]), i);
})"},
    // NVIDIA: dp4a of PTX ISA 5.0, from sm_61 on
    {"nvidia", "", R"(
#if !defined(cl_nv_compiler_options) && !defined(__NV_CL_C_VERSION)
#error "no compiler of NVIDIA's"
#endif
kernel void dot8(global const uint* in, global int* out) {
  int i = get_global_id(0), sum;
  asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(sum) : "r"(in[i]), "r"(in[i + 64]), "r"(i));
  out[i] = sum;
})"},
};

int32_t Dot8(uint32_t a, uint32_t b, int32_t sum) {
  for (int byte = 0; byte < 4; ++byte) sum += int8_t(a >> 8 * byte) * int8_t(b >> 8 * byte);
  return sum;
}

bool DotsAreRight(const Context& context, const Dot8Way& way) {
  std::vector<uint32_t> in;
  for (uint32_t i = 0; i < 2 * kCount; ++i)
    in.push_back(i * 2654435761u + 0x80ff7f01u);  // signs of all kinds
  const auto out = Compute<uint32_t, int32_t>(context, way.text, "dot8", in, way.options);
  for (int i = 0; i < kCount; ++i)
    if (out[size_t(i)] != Dot8(in[size_t(i)], in[size_t(i + kCount)], i)) return false;
  return true;
}

}  // namespace

void ProbeF32(const Device& device, ProbeFacts& facts) {
  const Context context(device);
  const int64_t start = NowNs();
  { const Program timed(context, kF32, ""); }
  facts.build_ms = double(NowNs() - start) * 1e-6;
  const std::vector<float> in = Quarters(), out = Compute<float, float>(context, kF32, "polynomial", in);
  // Exact, since products and sums of such quarters need fewer than 24 bits.
  for (size_t i = 0; i < in.size(); ++i)
    Expect(out[i] == Polynomial(in[i]), device, "products and sums in f32");
  facts.computes_f32 = true;
}

void ProbeHalfStorage(const Device& device, ProbeFacts& facts) {
  std::vector<uint16_t> in = Halves(Quarters());
  in[0] = 1;       // the smallest subnormal half
  in[1] = 0x03ff;  // the largest one
  in[2] = 0x77ff;  // 32752, twice of which is nearly the largest half
  const auto out = Compute<uint16_t, uint16_t>(Context(device), kHalfStorage, "halves", in);
  for (size_t i = 0; i < in.size(); ++i)
    Expect(out[i] == F32ToF16(2 * F16ToF32(in[i])), device, "halves in memory");
  facts.stores_f16 = true;
}

void ProbeF16(const Device& device, ProbeFacts& facts) {
  const std::vector<float> in = Quarters();
  const auto out = Compute<uint16_t, uint16_t>(Context(device), kF16, "polynomial", Halves(in));
  for (size_t i = 0; i < in.size(); ++i) {
    // Three roundings, each of a value below (8 / 2 + 3) * 8 = 56, whose halves are 2^-5 apart.
    const float bound = 3 * 0.5f * 0x1p-5f;
    Expect(std::abs(F16ToF32(out[i]) - Polynomial(in[i])) <= bound, device, "products and sums in f16");
  }
  facts.computes_f16 = true;
}

void ProbeDot8(const Device& device, ProbeFacts& facts) {
  const Context context(device);
  for (const Dot8Way& way : kDot8Ways) {
    try {
      if (!DotsAreRight(context, way)) continue;
      facts.dot8 = way.name;
      return;
    } catch (const Error&) {  // the compiler does not know it
    }
  }
}

}  // namespace mete::opencl

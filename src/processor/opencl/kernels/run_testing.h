// Runs a text of these kernels on any OpenCL device, for tests and benchmarks.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/half.h"
#include "processor/opencl/api/device_testing.h"
#include "processor/opencl/kernels/kernel_text.h"

namespace mete::opencl {

// Values as elements of a type, and back.
inline std::vector<std::byte> ToBytes(DType type, std::span<const float> values) {
  std::vector<std::byte> bytes(values.size() * SizeOf(type));
  for (size_t i = 0; i < values.size(); ++i) {
    const F16 half(values[i]);
    const auto byte = uint8_t(int(values[i]));  // of both types of bytes
    const void* from = type == DType::kF32   ? static_cast<const void*>(&values[i])
                       : type == DType::kF16 ? static_cast<const void*>(&half)
                                             : static_cast<const void*>(&byte);
    std::memcpy(&bytes[i * SizeOf(type)], from, SizeOf(type));
  }
  return bytes;
}
inline std::vector<float> ToFloats(DType type, std::span<const std::byte> bytes) {
  std::vector<float> values(bytes.size() / SizeOf(type));
  for (size_t i = 0; i < values.size(); ++i) {
    const std::byte* at = &bytes[i * SizeOf(type)];
    F16 half;
    if (type == DType::kU8) values[i] = float(std::to_integer<int>(*at));
    if (type == DType::kI8) values[i] = float(int8_t(std::to_integer<int>(*at)));
    if (type == DType::kF32) std::memcpy(&values[i], at, sizeof(float));
    if (type == DType::kF16) {
      std::memcpy(&half, at, sizeof half);
      values[i] = float(half);
    }
  }
  return values;
}

// Puts `first` elements before the values: a slice of a wider tensor begins behind them.
inline std::vector<float> Behind(int64_t first, float element, std::span<const float> values) {
  std::vector<float> all(size_t(first), element);
  all.insert(all.end(), values.begin(), values.end());
  return all;
}
// Checks that elements before a slice are as they were, and returns those of the slice.
inline std::vector<float> SliceFrom(int64_t first, float element, const std::vector<float>& all) {
  for (int64_t i = 0; i < first; ++i)
    EXPECT_EQ(all[size_t(i)], element) << "written before the slice, element " << i;
  return {all.begin() + first, all.end()};
}

// The bytes of a buffer from `offset` on.
struct Argument {
  Argument(const Buffer* whole, int64_t from = 0) : buffer(whole), offset(from) {}
  const Buffer* buffer;  // null: left out
  int64_t offset;
};

// A test with a queue on a device.
class WithQueue : public WithDevice {
 protected:
  void SetUp() override {
    WithDevice::SetUp();
    if (IsSkipped()) return;
    context_.emplace(device());
    queue_.emplace(*context_, QueueOptions{});
  }

  Buffer Make(std::span<const std::byte> bytes) {
    Buffer buffer = Blank(int64_t(bytes.size()));
    queue_->Write(buffer, 0, bytes);
    return buffer;
  }
  Buffer Make(DType type, std::span<const float> values) { return Make(ToBytes(type, values)); }
  Buffer Blank(int64_t bytes) { return Buffer(*context_, {.bytes = bytes}); }

  // Returns a buffer's elements.
  template <class T>
  std::vector<T> ReadAll(const Buffer& buffer) {
    std::vector<T> elements(size_t(buffer.bytes()) / sizeof(T));
    queue_->Read(buffer, 0, std::as_writable_bytes(std::span(elements)));
    return elements;
  }
  std::vector<float> Read(const Buffer& buffer, DType type) {
    return ToFloats(type, ReadAll<std::byte>(buffer));
  }
  void ReadInto(const Buffer& buffer, std::span<std::byte> bytes) { queue_->Read(buffer, 0, bytes); }

  // Runs a kernel; null arguments are left out. The sizes that it reads are put before them.
  void Run(const KernelText& text, std::vector<Argument> arguments) {
    if (text.sizes.empty()) return RunWithAll(text, arguments);
    const Buffer sizes = Make(std::as_bytes(std::span(text.sizes)));
    arguments.insert(arguments.begin(), Argument(&sizes));
    RunWithAll(text, arguments);
  }
  // The same with arguments that have the sizes.
  void RunWithAll(const KernelText& text, const std::vector<Argument>& arguments) {
    SCOPED_TRACE(text.source);
    const Program program(*context_, text.source, "");
    Kernel kernel(program, text.name);
    uint32_t index = 0;
    for (const Argument& argument : arguments)
      if (argument.buffer)
        kernel.SetPlace(index++, *argument.buffer, argument.offset,
                        argument.buffer->bytes() - argument.offset);
    queue_->LaunchOnly(kernel, RangeOf(text));
    queue_->Finish();
  }

 private:
  std::optional<Context> context_;
  std::optional<Queue> queue_;
};

}  // namespace mete::opencl

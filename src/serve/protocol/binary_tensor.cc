#include "serve/protocol/binary_tensor.h"

#include <bit>
#include <cstdint>
#include <cstring>

#include "base/error.h"

namespace mete::serve {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are copied as they lie in memory");

using Length = uint32_t;  // in front of an element of BYTES

std::vector<std::string> TextsOfBytes(const std::string& where, const InputForm& form,
                                      std::span<const std::byte> bytes) {
  if (bytes.size() / sizeof(Length) < size_t(form.elements))
    Invalid(where, "its bytes are too few; got {}, expected {} texts, each behind four bytes of length",
            bytes.size(), form.elements);
  std::vector<std::string> texts(size_t(form.elements));
  for (size_t i = 0; i < texts.size(); ++i) {
    Length length = sizeof(Length);  // of what is missing where no length is left
    if (bytes.size() >= sizeof(length)) {
      std::memcpy(&length, bytes.data(), sizeof(length));
      bytes = bytes.subspan(sizeof(length));
      if (length <= bytes.size()) {
        texts[i].assign(reinterpret_cast<const char*>(bytes.data()), length);
        bytes = bytes.subspan(length);
        continue;
      }
    }
    Invalid(where, "its bytes end in text {} of {}; got {} bytes there, expected {}", i, form.elements,
            bytes.size(), length);
  }
  if (!bytes.empty())
    Invalid(where, "its bytes are too many; got {} behind the last of {} texts", bytes.size(), form.elements);
  return texts;
}

void CheckBools(const std::string& where, std::span<const std::byte> bytes) {
  for (size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] > std::byte(1))
      Invalid(where, "element {} is no BOOL; got {}, expected a byte 0 or 1", i,
              std::to_integer<int>(bytes[i]));
}

}  // namespace

NamedTensor TensorOfBytes(const std::string& where, const InputForm& form, std::span<const std::byte> bytes,
                          const std::shared_ptr<const void>& owner) {
  NamedTensor made;
  made.shape = form.shape;
  if (form.type == DType::kUnknown) {
    made.texts = TextsOfBytes(where, form, bytes);
    return made;
  }
  const size_t size = SizeOf(form.type), expected = size_t(form.elements) * size;
  if (bytes.size() != expected)
    Invalid(where, "its bytes do not fit its shape; got {}, expected {} for {} of {}", bytes.size(), expected,
            ToString(form.shape), DatatypeOf(form.type));
  if (form.type == DType::kBool) CheckBools(where, bytes);
  if (owner && reinterpret_cast<uintptr_t>(bytes.data()) % size == 0) {
    made.tensor = Tensor(form.type, form.shape, bytes.data(), owner);
  } else {
    made.tensor = Tensor(form.type, form.shape);
    if (expected > 0) std::memcpy(made.tensor.mutable_view().data, bytes.data(), expected);
  }
  return made;
}

size_t ByteCount(const NamedTensor& tensor) {
  if (!tensor.is_bytes()) return tensor.tensor.bytes();
  size_t count = 0;
  for (const std::string& text : tensor.texts) count += sizeof(Length) + text.size();
  return count;
}

void AppendBytes(const NamedTensor& tensor, std::string& bytes) {
  if (!tensor.is_bytes()) {
    bytes.append(tensor.tensor.as<char>(), tensor.tensor.bytes());
    return;
  }
  for (const std::string& text : tensor.texts) {
    const auto length = Length(text.size());
    bytes.append(reinterpret_cast<const char*>(&length), sizeof(length));
    bytes += text;
  }
}

}  // namespace mete::serve

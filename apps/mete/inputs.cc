#include "inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/narrow.h"
#include "context.h"
#include "mete/io.h"
#include "model_flags.h"

namespace mete::cli {
namespace {

// splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014). It is small and
// gives the same numbers everywhere, which the distributions of <random> do not.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  double NextUnit() { return double(Next() >> 11) * 0x1p-52 - 1; }  // [-1, 1)

 private:
  uint64_t state_;
};

template <class T, class F>
void Fill(const View& view, F f) {
  std::generate_n(view.as<T>(), view.elements(), f);
}

// Returns a random half-precision number: a sign, an exponent below that of 1, and a mantissa. Magnitudes are
// in [2^-4, 1).
uint16_t RandomHalf(Random& random, int mantissa_bits, int bias) {
  const uint64_t bits = random.Next();
  const uint64_t exponent = uint64_t(bias) - 4 + (bits >> 62);
  return uint16_t((bits & 1) << 15 | exponent << mantissa_bits |
                  ((bits >> 8) & ((uint64_t(1) << mantissa_bits) - 1)));
}

Tensor RandomTensor(const Port& port, Random& random) {
  Tensor tensor(port.type, port.shape);
  const View v = tensor.mutable_view();
  if (IsNarrowFloat(port.type)) {
    Fill<uint8_t>(v, [&] { return EncodeFloat(port.type, random.NextUnit()); });
    return tensor;
  }
  switch (port.type) {
    case DType::kF32: Fill<float>(v, [&] { return float(random.NextUnit()); }); break;
    case DType::kF64: Fill<double>(v, [&] { return random.NextUnit(); }); break;
    case DType::kF16: Fill<uint16_t>(v, [&] { return RandomHalf(random, 10, 15); }); break;
    case DType::kBF16: Fill<uint16_t>(v, [&] { return RandomHalf(random, 7, 127); }); break;
    case DType::kI8:
    case DType::kU8: Fill<uint8_t>(v, [&] { return uint8_t(random.Next() >> 56); }); break;
    case DType::kBool: Fill<uint8_t>(v, [&] { return uint8_t(random.Next() >> 63); }); break;
    case DType::kI16:
    case DType::kU16: Fill<uint16_t>(v, [&] { return uint16_t(random.Next() >> 63); }); break;
    case DType::kI32:
    case DType::kU32: Fill<uint32_t>(v, [&] { return uint32_t(random.Next() >> 63); }); break;
    case DType::kI64:
    case DType::kU64: Fill<uint64_t>(v, [&] { return random.Next() >> 63; }); break;
    default: Fill<uint8_t>(v, [&] { return LowBits(port.type, int64_t(random.Next() >> 60)); }); break;
  }
  return tensor;
}

std::string PortsText(const Model& model) {
  std::string names;
  for (const Port& p : model.inputs()) names += (names.empty() ? "" : ", ") + DescribePort(p);
  return names;
}

size_t PortIndex(const Model& model, const TensorFile& file) {
  const auto& ports = model.inputs();
  if (file.input.empty() && ports.size() == 1) return 0;
  if (file.input.empty())
    throw UsageError(fmt::format(
        "[--input] the model has {} inputs; got '{}' without a name, expected NAME=FILE with one of {}",
        ports.size(), file.path, PortsText(model)));
  const auto found =
      std::find_if(ports.begin(), ports.end(), [&](const Port& p) { return p.name == file.input; });
  if (found != ports.end()) return size_t(found - ports.begin());
  throw UsageError(
      fmt::format("[--input] the model has no input '{}'; expected one of {}", file.input, PortsText(model)));
}

bool FitsFile(const Shape& shape, const Shape& declared) {
  if (!declared.known() || declared.rank() != shape.rank()) return false;
  const auto fits = [](int64_t wanted, int64_t got) { return wanted < 0 || wanted == got; };
  return std::equal(declared.begin(), declared.end(), shape.begin(), fits);
}

// Returns the shape that the file declares, "?x3x224x224", or the port's shape if that is the reason of the
// error.
std::string ExpectedText(const Port& port, const Shape& got) {
  if (FitsFile(got, port.declared))
    return ToString(port.shape) + ", as --shape or another input's tensor has it";
  if (!port.declared.known() || port.declared.rank() == 0) return ToString(port.shape);
  std::string text;
  for (const int64_t dim : port.declared)
    text += (text.empty() ? "" : "x") + (dim < 0 ? std::string("?") : std::to_string(dim));
  return text;
}

void CheckTensor(const Port& port, const TensorFile& file) {
  const Tensor& t = file.tensor;
  if (port.type != DType::kUnknown && t.type() != port.type)
    Invalid(file.path, "wrong input type for '{}'; got {}, expected {}; try {}", port.name, Name(t.type()),
            Name(port.type), IsNarrow(port.type) ? "a .pb file" : "numpy's astype()");
  if (port.shape.known() && t.shape() != port.shape)
    Invalid(file.path, "wrong input shape for '{}'; got {}, expected {}; try numpy's reshape()", port.name,
            ToString(t.shape()), ExpectedText(port, t.shape()));
}

}  // namespace

std::string DescribePort(const Port& port) {
  return fmt::format("'{}' {} {}", port.name, Name(port.type), ToString(port.shape));
}

std::vector<TensorFile> ReadTensorFiles(const std::vector<std::string>& assignments) {
  std::vector<TensorFile> files;
  for (const std::string& text : assignments) {
    const bool named = text.find('=') != std::string::npos;
    const auto [name, path] = named ? SplitAssignment(text, "--input") : std::pair(std::string(), text);
    if (std::any_of(files.begin(), files.end(),
                    [&name = name](const TensorFile& f) { return f.input == name; }))
      throw UsageError(fmt::format("[--input] {} is given twice; got '{}' again, expected it once",
                                   named ? "'" + name + "'" : "the input", text));
    const std::string ending = std::filesystem::path(path).extension();
    if (ending == ".npy") files.push_back({name, path, ReadNpy(path)});
    else if (ending == ".pb") files.push_back({name, path, ReadTensorPb(path)});
    else if (ending == ".bin") files.push_back({name, path, {}});
    else
      throw UsageError(
          fmt::format("[--input] unknown kind of file; got '{}', expected .npy, .pb or .bin; try a picture "
                      "without --input",
                      path));
  }
  return files;
}

std::map<std::string, Shape> ShapesOf(const std::vector<TensorFile>& files) {
  std::map<std::string, Shape> shapes;
  for (const TensorFile& file : files)
    if (file.tensor.has_value()) shapes[file.input] = file.tensor.shape();
  return shapes;
}

std::vector<Tensor> PlaceTensors(const Model& model, const std::vector<TensorFile>& files) {
  std::vector<Tensor> inputs(model.inputs().size());
  for (const TensorFile& file : files) {
    const size_t i = PortIndex(model, file);
    const Port& port = model.inputs()[i];
    if (inputs[i].has_value())
      throw UsageError(fmt::format("[--input] '{}' is given twice; got '{}' again, expected it once",
                                   port.name, file.path));
    if (file.tensor.has_value()) CheckTensor(port, file);
    inputs[i] = file.tensor.has_value() ? file.tensor : ReadBin(file.path, port.type, port.shape);
  }
  return inputs;
}

int FirstMissing(const std::vector<Tensor>& inputs) {
  const auto found =
      std::find_if(inputs.begin(), inputs.end(), [](const Tensor& t) { return !t.has_value(); });
  return found == inputs.end() ? -1 : int(found - inputs.begin());
}

void FillRandom(const Model& model, uint64_t seed, std::vector<Tensor>& inputs) {
  Random random(seed);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Port& port = model.inputs()[i];
    if (inputs[i].has_value()) continue;
    if (!port.shape.known() || port.type == DType::kUnknown)
      throw UsageError(
          fmt::format("[--shape] input '{}' has no known shape; try --shape {}=...", port.name, port.name));
    inputs[i] = RandomTensor(port, random);
  }
}

}  // namespace mete::cli

// A libFuzzer target that makes outputs of a network of any bytes, decodes them by one of the heads and as
// tokens, and draws what was found.
#include <cstring>

#include "base/error.h"
#include "mete/answer.h"

namespace {

using mete::Shape;
using mete::Tensor;

constexpr const char* kNames[] = {"boxes", "scores", "landmarks", "logits", "hm",
                                  "wh",    "reg",    "labels",    "offsets"};
constexpr int64_t kMostElements = 1 << 14;  // of an output, so that a case is fast
constexpr int kMostDimension = 64, kMostOutputs = 4, kMostRank = 4;

// Returns the bytes one after the other, and then zeros.
class ByteSource {
 public:
  ByteSource(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  int Next(int below) { return at_ < size_ ? data_[at_++] % below : 0; }
  // The values are those of the rest, again and again.
  std::vector<float> Floats(int64_t count) const {
    std::vector<float> values(static_cast<size_t>(count));
    const size_t rest = (size_ - at_) / sizeof(float);
    for (size_t i = 0; i < values.size() && rest > 0; ++i)
      std::memcpy(&values[i], data_ + at_ + i % rest * sizeof(float), sizeof(float));
    return values;
  }

 private:
  const uint8_t* data_;
  size_t size_, at_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ByteSource bytes(data, size);
  const auto heads = mete::AnswerHeads();
  mete::Preprocess settings;
  settings.head.name = heads[size_t(bytes.Next(int(heads.size())))].name;
  settings.head.anchors = {4, 8, 8, 4};
  if (bytes.Next(2) == 1) settings.head.layout = mete::TensorOrder::kNhwc;
  if (bytes.Next(2) == 1) settings.head.classes = {0, 2};
  settings.head.named = bytes.Next(kMostDimension + 1);
  std::vector<std::string> names;
  std::vector<Shape> shapes;
  for (int left = bytes.Next(kMostOutputs + 1); left > 0; --left) {
    names.push_back(kNames[bytes.Next(int(std::size(kNames)))]);
    std::vector<int64_t> dims(size_t(bytes.Next(kMostRank + 1)));
    for (int64_t& dim : dims) dim = bytes.Next(kMostDimension + 1);
    shapes.emplace_back(std::span<const int64_t>(dims));
    if (shapes.back().Elements() > kMostElements) return 0;
  }
  std::vector<Tensor> tensors;
  std::vector<mete::HeadOutput> outputs;
  for (const Shape& shape : shapes) tensors.push_back(Tensor::Floats(shape, bytes.Floats(shape.Elements())));
  for (size_t i = 0; i < tensors.size(); ++i) outputs.push_back({names[i], tensors[i].view()});
  const mete::Image picture(20, 10);
  try {
    (void)mete::DrawAnswer(picture, mete::DecodeAnswer(outputs, picture, settings, {1, 3, 16, 16}), {});
  } catch (const mete::Error&) {}
  try {
    (void)mete::DecodeTokens(outputs);
  } catch (const mete::Error&) {}
  return 0;
}

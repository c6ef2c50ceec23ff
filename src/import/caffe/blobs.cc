// What a Layer reads of the weights: its blobs, which become constants, and what is wrong with them.
#include <algorithm>

#include "import/caffe/builder.h"

namespace mete::caffe_import {
namespace {

// Returns the dimensions without the ones in front: old files write every blob with four dimensions, for
// example 1x1x1x64.
std::vector<int64_t> WithoutLeadingOnes(std::span<const int64_t> dims) {
  const auto first = std::find_if(dims.begin(), dims.end(), [](int64_t d) { return d != 1; });
  return {first, dims.end()};
}

// Returns whether a blob's dimensions are those of `shape`. The ones of a vector may be anywhere: a value for
// each of 64 channels is 64 in some layers and 1x64x1x1 in others.
bool HasShape(std::span<const int64_t> dims, const Shape& shape) {
  if (shape.rank() > 1) return WithoutLeadingOnes(dims) == WithoutLeadingOnes(shape.dims());
  std::vector<int64_t> longer(dims.begin(), dims.end());
  std::erase(longer, 1);
  return longer == WithoutLeadingOnes(shape.dims());
}

// Returns the blob's dimensions, or nothing if the file does not contain them.
std::vector<int64_t> DimsOf(const caffe::BlobProto& b) {
  if (b.has_shape()) return {b.shape().dim().begin(), b.shape().dim().end()};
  if (b.has_num() || b.has_channels() || b.has_height() || b.has_width())
    return {b.num(), b.channels(), b.height(), b.width()};
  return {};
}

int SizeOf(const caffe::BlobProto& b) { return b.data_size() ? b.data_size() : b.double_data_size(); }

}  // namespace

std::string Layer::WhatIsWrong(int i, const Shape& shape, const std::string& what) {
  if (builder_.weights().layers.empty())
    return fmt::format("it needs a {}, but there is no .caffemodel", what);
  if (!blobs_)
    return fmt::format("the .caffemodel has no layer of this name; expected one with a {} of {}", what,
                       ToString(shape));
  if (i >= blobs_->size())
    return fmt::format("the .caffemodel has no {} for it; got {} blobs, expected at least {}", what,
                       blobs_->size(), i + 1);
  const caffe::BlobProto& b = blobs_->Get(i);
  const std::vector<int64_t> dims = DimsOf(b);
  if (!dims.empty() && !HasShape(dims, shape))
    return fmt::format("the .caffemodel's {} does not fit; got {}, expected {}", what, fmt::join(dims, "x"),
                       ToString(shape));
  if (SizeOf(b) != shape.Elements())
    return fmt::format("the .caffemodel's {} does not fit; got {} values, expected {} ({})", what, SizeOf(b),
                       shape.Elements(), ToString(shape));
  return "";
}

void Layer::NeedAtMostBlobs(int most, const std::string& instead) {
  if (blob_count() > most)
    builder_.WeightProblem(p.name(),
                           fmt::format("the .caffemodel has more blobs for it than it reads; got {}, "
                                       "expected {}; try {}",
                                       blob_count(), most, instead));
}

Tensor Layer::TensorOf(const caffe::BlobProto& b, const Shape& shape) const {
  if (b.data_size()) return Tensor(DType::kF32, shape, b.data().data(), builder_.weights().message);
  Tensor t(DType::kF32, shape);
  std::transform(b.double_data().begin(), b.double_data().end(), static_cast<float*>(t.mutable_view().data),
                 [](double v) { return float(v); });
  return t;
}

ValueId Layer::Weight(int i, const Shape& stored, const Shape& shape, const std::string& what) {
  NeedRoom(what, shape);
  const std::string name = p.name() + "." + what, wrong = WhatIsWrong(i, stored, what);
  builder_.CountWeight();
  if (wrong.empty()) return builder_.graph().AddConstant(name, TensorOf(blobs_->Get(i), shape));
  builder_.WeightProblem(p.name(), wrong);
  return builder_.graph().AddValue(name, DType::kF32, shape);
}

}  // namespace mete::caffe_import

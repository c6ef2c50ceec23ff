#include "network/worker/weight_receiver.h"

#include <memory>

#include "base/error.h"
#include "network/protocol/check.h"

namespace mete {
namespace {

// of one tensor, at most. This value is a guess: ten times the largest of VGG-16
constexpr int64_t kMostWeightBytes = int64_t(1) << 32;

}  // namespace

void WeightReceiver::Add(const pb::WeightChunk& chunk) {
  if (!chunk.digest().empty()) Start(chunk);
  if (!open_ || int64_t(bytes_.size() + chunk.data().size()) > expected_)
    Invalid("weights", "come in chunks that do not fit; got {} bytes after {} of {}", chunk.data().size(),
            bytes_.size(), expected_);
  bytes_ += chunk.data();  // the buffer grows with the received bytes, not to the announced size
  if (int64_t(bytes_.size()) == expected_) Finish();
}

void WeightReceiver::End() const {
  if (open_) Fail(Code::kDataLoss, "weights", "end too soon; got {} bytes of {}", bytes_.size(), expected_);
}

void WeightReceiver::Start(const pb::WeightChunk& chunk) {
  End();
  digest_ = DigestFrom(chunk.digest());
  type_ = DType(chunk.type() > uint32_t(kLastDType) ? 0 : chunk.type());
  shape_ = Shape(std::span<const int64_t>(chunk.dims().data(), size_t(chunk.dims_size())));
  const int64_t elements = type_ == DType::kUnknown ? -1 : CheckedElements(shape_, type_, kMostWeightBytes);
  if (elements <= 0)
    Invalid("weights", "have a type or shape that cannot be; got type {} and {}", chunk.type(),
            ToString(shape_));
  expected_ = elements * int64_t(SizeOf(type_));
  bytes_.clear();
  open_ = true;
}

void WeightReceiver::Finish() {
  const auto owner = std::make_shared<const std::string>(std::move(bytes_));
  bytes_ = {};
  std::string note;
  kept_.push_back(store_.Add(digest_, Tensor(type_, shape_, owner->data(), owner), &note));
  if (!note.empty()) stored_.set_note(note);
  stored_.set_tensors(stored_.tensors() + 1);
  open_ = false;
}

}  // namespace mete

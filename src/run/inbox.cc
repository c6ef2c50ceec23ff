#include "run/inbox.h"

#include <cstring>

#include "base/error.h"
#include "run/spin.h"

namespace mete {

Inbox::Inbox(const Program& program, int processor, Coding coding)
    : program_(program), processor_(processor), coding_(coding) {
  size_t pieces = 0;
  for (const ProgramStage& stage : program_.stages) {
    std::vector<size_t>& first = first_.emplace_back();
    for (const ProgramNeed& need : stage.needs) {
      first.push_back(pieces);
      pieces += need.sources.size();
    }
  }
  pieces_.resize(pieces);
}

void Inbox::Reset() {
  std::lock_guard lock(mutex_);
  for (Arriving& piece : pieces_) {
    piece.tensor = {};
    piece.coded.clear();
    piece.bytes = 0;
    piece.taken = false;
  }
  deadline_ = Clock::Time::max();
  late_ = waits_for_ = -1;
}

size_t Inbox::IndexOf(const PieceId& id) const {
  return first_[size_t(id.stage)][size_t(id.need)] + size_t(id.source);
}

const ProgramNeed& Inbox::NeedOf(int from, const PieceId& id) const {
  const auto in = [](int index, size_t size) { return index >= 0 && size_t(index) < size; };
  if (in(id.stage, program_.stages.size())) {
    const ProgramStage& stage = program_.stages[size_t(id.stage)];
    if (in(id.need, stage.needs.size())) {
      const ProgramNeed& need = stage.needs[size_t(id.need)];
      if (in(id.source, need.sources.size()) && need.sources[size_t(id.source)].processor == from &&
          from != processor_)
        return need;
    }
  }
  Invalid("piece", "is not expected here; got {}.{}.{} of processor {}", id.stage, id.need, id.source, from);
}

void Inbox::Put(int from, const PieceId& id, int64_t offset, std::string_view bytes) {
  const ProgramNeed& need = NeedOf(from, id);
  const Shape shape = ShapeOf(need.sources[size_t(id.source)].at, need.shape);
  const int64_t all = CodedBytes(coding_, need.type, shape);
  std::lock_guard lock(mutex_);
  Arriving& piece = At(id);
  if (piece.taken || offset != piece.bytes || int64_t(bytes.size()) > all - piece.bytes)
    Invalid("piece", "has other bytes than expected; got {} from {} on, expected at most {} from {} on",
            bytes.size(), offset, piece.taken ? 0 : all - piece.bytes, piece.bytes);
  // coded floats never have this length
  const bool as_it_is = all == shape.Elements() * int64_t(SizeOf(need.type));
  if (!piece.tensor.has_value()) piece.tensor = Tensor(need.type, shape);
  if (as_it_is && !bytes.empty())
    std::memcpy(static_cast<char*>(piece.tensor.mutable_view().data) + piece.bytes, bytes.data(),
                bytes.size());
  if (!as_it_is) piece.coded.append(bytes);
  piece.bytes += int64_t(bytes.size());
  if (piece.bytes < all) return;
  if (!as_it_is) {
    Decode(coding_, piece.coded, piece.tensor.mutable_view());
    piece.coded = {};
  }
  Arrived();
}

void Inbox::Put(int from, const PieceId& id, Tensor tensor) {
  const ProgramNeed& need = NeedOf(from, id);
  const Shape shape = ShapeOf(need.sources[size_t(id.source)].at, need.shape);
  if (tensor.type() != need.type || tensor.shape() != shape)
    Invalid("piece", "is another tensor than expected; got {} {}, expected {} {}", Name(tensor.type()),
            ToString(tensor.shape()), Name(need.type), ToString(shape));
  std::lock_guard lock(mutex_);
  Arriving& piece = At(id);
  if (piece.taken || piece.bytes > 0) Invalid("piece", "has come already; got it a second time");
  piece.bytes = CodedBytes(coding_, need.type, shape);
  piece.tensor = std::move(tensor);
  Arrived();
}

void Inbox::Arrived() {
  changes_.fetch_add(1, std::memory_order_release);
  changed_.notify_all();
}

bool Inbox::Whole(const PieceId& id) const {
  const Arriving& piece = pieces_[IndexOf(id)];
  if (!piece.tensor.has_value()) return false;
  const ProgramNeed& need = program_.stages[size_t(id.stage)].needs[size_t(id.need)];
  return piece.bytes ==
         CodedBytes(coding_, need.type, ShapeOf(need.sources[size_t(id.source)].at, need.shape));
}

Tensor Inbox::Take(const PieceId& id) {
  std::unique_lock lock(mutex_);
  const auto come = [&] { return error_ || Whole(id); };
  SpinUntil(lock, changes_, come);
  waits_for_ = program_.stages[size_t(id.stage)].needs[size_t(id.need)].sources[size_t(id.source)].processor;
  if (!clock_->WaitUntil(changed_, lock, deadline_, come)) {
    late_ = waits_for_;
    mete::Fail(Code::kDeadlineExceeded, "processors",
               "a part of the answer did not come in time, from processor {}; it may wait for another",
               late_);
  }
  waits_for_ = -1;
  if (error_) std::rethrow_exception(error_);
  Arriving& piece = At(id);
  piece.taken = true;
  return std::move(piece.tensor);
}

void Inbox::Fail(std::exception_ptr error) {
  std::lock_guard lock(mutex_);
  if (!error_) error_ = std::move(error);
  failed_.Cancel();
  Arrived();
}

void Inbox::ThrowIfFailed() {
  std::lock_guard lock(mutex_);
  if (error_) std::rethrow_exception(error_);
}

void Inbox::Check() {
  ThrowIfFailed();
  if (clock_->Now() < deadline_) return;
  late_ = processor_;
  mete::Fail(Code::kDeadlineExceeded, "processors",
             "this processor has not come to its part of the answer in time");
}

int Inbox::waits_for() {
  std::lock_guard lock(mutex_);
  return waits_for_;
}

std::shared_ptr<Inbox> Inboxes::Take() {
  for (const std::shared_ptr<Inbox>& inbox : all_)
    if (inbox.use_count() == 1) {
      inbox->Reset();
      return inbox;
    }
  return all_.emplace_back(std::make_shared<Inbox>(program_, processor_, coding_));
}

}  // namespace mete

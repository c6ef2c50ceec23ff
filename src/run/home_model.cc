#include "run/home_model.h"

#include "base/clock.h"
#include "base/error.h"
#include "run/drift.h"

namespace mete {
namespace {

// For which a request waits while kernels are measured. Guess: as little as an answer that is late by it is
// not noticed, and as much as the calls that fill the caches again are few.
constexpr double kMeasuringUs = 5000;

void ThrowIf(const CancelToken& cancel) {
  if (cancel.cancelled()) Fail(Code::kCancelled, "session", "the run was cancelled");
}

}  // namespace

HomeModel::HomeModel(const Graph& graph, std::shared_ptr<Processor> processor, double predicted_us,
                     Begins begins)
    : processor_(std::move(processor)),
      begins_(begins),
      ready_(begins == Begins::kSoon ? processor_->PrepareSoon(graph) : processor_->Prepare(graph)),
      usual_us_(predicted_us) {}

void HomeModel::Settle(const CancelToken& cancel) const {
  const AdoptedThread adopted(*processor_);
  for (bool more = true; more;) {
    const Turn::Taken taken(turn_, [&] { ThrowIf(cancel); });
    ThrowIf(cancel);
    more = ready_->MeasureFor(kMeasuringUs);
  }
}

std::vector<Tensor> HomeModel::Run(std::span<const Tensor> inputs, double* us) {
  const Turn::Taken taken(turn_, [] {});
  const int64_t start_ns = NowNs();
  std::vector<Tensor> outputs = ready_->Run(inputs, {});
  *us = double(NowNs() - start_ns) * 1e-3;
  Learn(*us);
  return outputs;
}

void HomeModel::Run(std::span<const ConstView> inputs, std::span<const View> outputs, double* us) {
  const Turn::Taken taken(turn_, [] {});
  const int64_t start_ns = NowNs();
  ready_->Run(inputs, outputs, {});
  *us = double(NowNs() - start_ns) * 1e-3;
  Learn(*us);
}

std::vector<Tensor> HomeModel::Try(std::span<const Tensor> inputs, const CancelToken& cancel) const {
  const Turn::Taken taken(turn_, [&] { ThrowIf(cancel); });
  return ready_->Run(inputs, {.cancel = &cancel});
}

void HomeModel::Try(std::span<const ConstView> inputs, std::span<const View> outputs,
                    const CancelToken& cancel) const {
  const Turn::Taken taken(turn_, [&] { ThrowIf(cancel); });
  ready_->Run(inputs, outputs, {.cancel = &cancel});
}

void HomeModel::Learn(double us) {
  std::lock_guard lock(mutex_);
  usual_us_ = usual_us_ == 0 ? us : Smoothed(usual_us_, us);
}

double HomeModel::usual_us() const {
  std::lock_guard lock(mutex_);
  return usual_us_;
}

}  // namespace mete

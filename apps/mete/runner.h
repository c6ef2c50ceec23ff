// Runs a session repeatedly on the same inputs. The outputs are allocated only once if the model's shapes are
// known.
#pragma once

#include <utility>
#include <vector>

#include "context.h"
#include "mete/engine.h"
#include "stopwatch.h"

namespace mete::cli {

class Runner {
 public:
  Runner(const Model& model, Session& session, std::vector<Tensor> inputs, const Context& context)
      : session_(session), inputs_(std::move(inputs)), context_(context) {
    for (const Tensor& t : inputs_) views_.push_back(t.view());
    for (const Port& p : model.outputs()) fixed_ &= p.shape.known() && p.type != DType::kUnknown;
    for (const Port& p : model.outputs()) {
      if (!fixed_) break;
      results_.emplace_back(p.type, p.shape);
      outputs_.push_back(results_.back().mutable_view());
    }
  }

  double RunMs(Trace* trace = nullptr) {
    const RunOptions options{context_.cancel, trace};
    const Stopwatch watch;
    if (fixed_) session_.Run(views_, outputs_, options);
    else results_ = session_.Run(inputs_, options);
    return watch.ms();
  }

  const std::vector<Tensor>& results() const { return results_; }  // of the last run, in the model's order

 private:
  Session& session_;
  const std::vector<Tensor> inputs_;
  const Context& context_;
  bool fixed_ = true;
  std::vector<ConstView> views_;
  std::vector<Tensor> results_;
  std::vector<View> outputs_;
};

}  // namespace mete::cli

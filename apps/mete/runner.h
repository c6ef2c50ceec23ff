// Runs a session, or a chain of its runs, repeatedly on the same inputs. The outputs of single runs are
// allocated only once if the model's shapes are known.
#pragma once

#include <utility>
#include <vector>

#include "chain.h"
#include "context.h"
#include "mete/engine.h"
#include "stopwatch.h"

namespace mete::cli {

class Runner {
 public:
  Runner(const Model& model, Session& session, std::vector<Tensor> inputs, const Context& context,
         Chain chain = {})
      : session_(session), inputs_(std::move(inputs)), context_(context), chain_(std::move(chain)) {
    for (const Tensor& t : inputs_) views_.push_back(t.view());
    for (const Port& p : model.outputs()) fixed_ &= p.shape.known() && p.type != DType::kUnknown;
    for (const Port& p : model.outputs()) {
      if (!fixed_) break;
      results_.emplace_back(p.type, p.shape);
      outputs_.push_back(results_.back().mutable_view());
    }
  }

  // The time is that of the whole chain, and the trace that of its last run.
  double RunMs(Trace* trace = nullptr) {
    const RunOptions options{context_.cancel, trace};
    const Stopwatch watch;
    if (!chain_.feeds.empty()) results_ = RunChain(session_, chain_, inputs_, options);
    else if (fixed_) session_.Run(views_, outputs_, options);
    else results_ = session_.Run(inputs_, options);
    return watch.ms();
  }

  const std::vector<Tensor>& results() const { return results_; }  // of the last run, in the model's order

 private:
  Session& session_;
  const std::vector<Tensor> inputs_;
  const Context& context_;
  const Chain chain_;
  bool fixed_ = true;
  std::vector<ConstView> views_;
  std::vector<Tensor> results_;
  std::vector<View> outputs_;
};

}  // namespace mete::cli

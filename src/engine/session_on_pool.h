// What a Session does on a pool. The implementation is in engine/pool: a session on one CPU needs nothing of
// it.
#pragma once

#include "mete/pool.h"

namespace mete {

class SessionOnPool {
 public:
  virtual ~SessionOnPool() = default;

  // These functions do what the functions of Session with the same names do (mete/engine.h).
  virtual std::vector<Tensor> Run(std::span<const Tensor> inputs, const RunOptions& options) = 0;
  virtual void Run(std::span<const ConstView> inputs, std::span<const View> outputs,
                   const RunOptions& options) = 0;
  virtual const Model& model() const = 0;
  virtual bool settled() const = 0;
  virtual void Settle() = 0;
  virtual std::string PlanText() const = 0;
  virtual std::string PlanJson() const = 0;
  virtual std::vector<std::string> Notes() const = 0;
  virtual const SessionStats& stats() const = 0;
  virtual ShapeStats shape_stats() const = 0;
  virtual PoolStats pool_stats() const = 0;
};

}  // namespace mete

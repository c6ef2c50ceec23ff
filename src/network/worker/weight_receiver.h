// Assembles the weights that a caller sends from their chunks, and stores them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "network/protocol/programs.h"
#include "network/worker/weight_store.h"

namespace mete {

class WeightReceiver {
 public:
  // `stored` gets the number of weights and notes. This object keeps the references.
  WeightReceiver(WeightStore& store, pb::Stored& stored) : store_(store), stored_(stored) {}

  // Takes the next chunk. Error INVALID_ARGUMENT if it does not fit what came before, and those of
  // WeightStore::Add().
  void Add(const pb::WeightChunk& chunk);
  // Error DATA_LOSS if a weight is not complete.
  void End() const;

 private:
  void Start(const pb::WeightChunk& chunk);
  void Finish();

  WeightStore& store_;
  pb::Stored& stored_;
  Digest digest_{};
  DType type_ = DType::kUnknown;
  Shape shape_;
  int64_t expected_ = 0;  // bytes of the weight
  std::string bytes_;
  bool open_ = false;         // a weight has begun and is not complete
  std::vector<Tensor> kept_;  // keeps every received weight in the store while the next ones come
};

}  // namespace mete

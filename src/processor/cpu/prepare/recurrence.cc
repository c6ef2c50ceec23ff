// LSTM, GRU and RNN.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/error.h"
#include "base/tensor_source.h"
#include "kernels/fast/recurrence/recurrence.h"
#include "processor/cpu/prepare/gate_weights.h"
#include "processor/cpu/prepare/grid.h"
#include "processor/cpu/prepare/prepare.h"
#include "processor/cpu/prepare/sequences.h"

namespace mete {
namespace {

// The least number of multiply-adds of a block of shares. This value is a guess: they take some microseconds.
constexpr int64_t kLeastMultiplyAdds = 64 << 10;

const Tensor* ConstantOf(const Preparation& of, size_t input) {
  const ValueId id = of.node.input(input);
  return id == kNoValue || !IsConstant(of.graph, id) ? nullptr : &of.graph.value(id).constant;
}

// The weights of the inputs, or those of a pass over the states.
struct GateProduct {
  const PackedGates& gates;
  GateKernel kernel;
  size_t input;  // of the node
  int64_t k;
  Tensor packed = {};  // constant weights
  int64_t place = 0;   // of computed ones, in bytes of the shared memory
};

class RecurrenceStep : public PreparedNode {
 public:
  RecurrenceStep(const Recurrence& recurrence, const Preparation& of)
      : pool_(of.pool()),
        r_(recurrence),
        precisions_(PrecisionsOf(r_)),
        plan_(PlanRecurrence(r_.cell, r_.inputs, r_.hidden)),
        products_(ProductsOf(plan_, r_, precisions_)),
        biases_(NoBiases(plan_, r_.directions)),
        peepholes_(of.node.input(7) == kNoValue ? std::vector<float>() : NoPeepholes(plan_, r_.directions)),
        no_state_(size_t(r_.hidden)),
        lengths_(size_t(r_.batch), r_.length),
        division_(DivideRecurrence(r_, plan_, pool_.step_threads())),
        memory_(MemoryOf(r_, plan_, division_)),
        blocks_(std::min(division_.shares(),
                         BlocksOf(MultiplyAdds(r_), kLeastMultiplyAdds, pool_.step_threads()))) {
    if (r_.constant) PackConstants(of);
    ReserveMemory();
  }

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    const auto input = [&](size_t i) { return i < in.size() ? in[i].as<float>() : nullptr; };
    const auto output = [&](size_t i) { return i < out.size() ? out[i].as<float>() : nullptr; };
    const Operands of{input(0), input(5), input(6), output(0), output(1), output(2)};
    if (!r_.constant) PackComputed(input);
    has_lengths_ = in.size() > 4 && in[4].data;
    if (has_lengths_) ReadLengths(in[4]);
    if (division_.column_blocks > 1) return RunInStep(of);
    pool_.For(blocks_, [&](int worker, int64_t begin, int64_t end) {
      const int64_t shares = division_.shares();
      for (int64_t i = shares * begin / blocks_; i < shares * end / blocks_; ++i) RunShare(worker, i, of);
    });
  }

  Reads reads(size_t input) const override {
    const bool packed = (input >= 1 && input <= 3) || input == 7;
    return packed && r_.constant ? Reads::kNothing : Reads::kElements;
  }
  std::string kernel() const override { return fmt::format("{} {}", r_.kernel(), TargetOf(plan_)); }
  std::string reason() const override {
    std::string why = r_.constant ? "" : "the weights are packed at each run";
    const auto add = [&](const std::string& more) { why += (why.empty() ? "" : "; ") + more; };
    if (division_.column_blocks > 1) add("threads divide each step");
    if (precisions_.inputs != Precision::kF32) add(fmt::format("inputs in {}", Name(precisions_.inputs)));
    if (precisions_.states != Precision::kF32) add(fmt::format("states in {}", Name(precisions_.states)));
    return why;
  }
  int64_t packed_bytes() const override {
    int64_t bytes = 0;
    for (const GateProduct& product : products_) bytes += int64_t(product.packed.bytes());
    return bytes;
  }

 private:
  struct Operands {
    const float *x, *h, *c;      // h and c may be null
    float *y, *last_h, *last_c;  // may be null
  };

  // A share of the node in a run.
  struct Part {
    int64_t direction;
    Range sequences;
    float *products, *inner, *states, *sums;  // working memory
  };

  // The weights of the inputs, and behind them those of each pass.
  static std::vector<GateProduct> ProductsOf(const RecurrencePlan& plan, const Recurrence& r,
                                             const RecurrentPrecisions& precisions) {
    std::vector<GateProduct> products;
    products.push_back({plan.inputs, GateKernel(plan.inputs, r.inputs, precisions.inputs), 1, r.inputs});
    for (int64_t pass = 0; pass < plan.passes(); ++pass) {
      const PackedGates& gates = plan.states[size_t(pass)];
      products.push_back({gates, GateKernel(gates, r.hidden, precisions.states), 2, r.hidden});
    }
    return products;
  }
  const GateProduct& inputs() const { return products_[0]; }
  const GateProduct& states(int64_t pass) const { return products_[size_t(1 + pass)]; }
  bool RoundsStates() const { return precisions_.states != Precision::kF32; }

  void PackConstants(const Preparation& of) {
    for (GateProduct& product : products_)
      product.packed =
          PackGates(plan_, product.gates, product.kernel, *ConstantOf(of, product.input), of.packer);
    const auto values = [&](size_t input) {
      const Tensor* constant = ConstantOf(of, input);
      std::vector<float> result(constant ? size_t(constant->elements()) : 0);
      if (constant) ReadElements(*constant, 0, constant->elements(), result.data());
      return result;
    };
    if (const auto b = values(3); !b.empty()) SetBiases(plan_, r_.directions, b.data(), biases_);
    if (const auto p = values(7); !p.empty()) SetPeepholes(plan_, r_.directions, p.data(), peepholes_);
  }

  void ReserveMemory() {
    int64_t shared = memory_.floats * division_.shares() * int64_t{sizeof(float)}, scratch = 0;
    for (GateProduct& product : products_) {
      scratch = std::max(scratch, product.kernel.scratch_bytes());
      if (r_.constant) continue;
      product.place = shared;
      shared += r_.directions * product.kernel.packed_bytes();
      scratch = std::max(scratch, product.kernel.MostColumns() * product.k * int64_t{sizeof(float)});
    }
    pool_.ReserveShared(shared);
    if (scratch > 0) pool_.ReserveScratch(scratch);
  }

  // Packs weights that are no constants, with all threads. `input` returns the elements of an input.
  template <class F>
  void PackComputed(const F& input) {
    for (const GateProduct& product : products_) {
      const GateMatrix matrix{nullptr, input(product.input), r_.directions, plan_.gates() * r_.hidden,
                              product.k};
      pool_.For(r_.directions * product.kernel.panels(), [&](int worker, int64_t begin, int64_t end) {
        PackGatePanels(product.gates, product.kernel, matrix, {begin, end},
                       reinterpret_cast<float*>(pool_.scratch(worker)), pool_.shared() + product.place);
      });
    }
    if (const float* b = input(3)) SetBiases(plan_, r_.directions, b, biases_);
    if (const float* p = input(7)) SetPeepholes(plan_, r_.directions, p, peepholes_);
  }

  const std::byte* PackedOf(const GateProduct& product, int64_t direction) const {
    const std::byte* all =
        r_.constant ? static_cast<const std::byte*>(product.packed.data()) : pool_.shared() + product.place;
    return all + direction * product.kernel.packed_bytes();
  }
  std::byte* ScratchOf(int worker, const GateProduct& product) const {
    return product.kernel.scratch_bytes() > 0 ? pool_.scratch(worker) : nullptr;
  }

  // A pass of step `s`, whose inputs were multiplied together with those of step `first`.
  struct StepPass {
    int64_t s, first, pass;
  };

  Part PartOf(int64_t share) {
    const int64_t block = share % division_.row_blocks, blocks = division_.row_blocks;
    float* memory = reinterpret_cast<float*>(pool_.shared()) + share * memory_.floats;
    return {share / blocks,
            {r_.batch * block / blocks, r_.batch * (block + 1) / blocks},
            memory,
            memory + memory_.inner,
            memory + memory_.states,
            memory + memory_.sums};
  }

  void ReadLengths(const ConstView& given) {
    for (int64_t n = 0; n < r_.batch; ++n) {
      const int64_t length = given.type == DType::kI32 ? given.as<int32_t>()[n] : given.as<int64_t>()[n];
      if (length < 0 || length > r_.length)
        Fail(Code::kOutOfRange, "kernel", "sequence_lens[{}] is out of range; got {}, expected 0 to {}", n,
             length, r_.length);
      lengths_[size_t(n)] = length;
    }
  }

  int64_t LongestOf(const Part& part) const {
    return *std::max_element(lengths_.begin() + part.sequences.begin, lengths_.begin() + part.sequences.end);
  }

  // Computes all steps of a share.
  void RunShare(int worker, int64_t share, const Operands& of) {
    const Part part = PartOf(share);
    Begin(part, of);
    const int64_t length = LongestOf(part);
    for (int64_t first = 0; first < length; first += memory_.steps) {
      const Range steps{first, std::min(length, first + memory_.steps)};
      MultiplyInputs(worker, part, steps, {0, inputs().kernel.panels()}, of);
      for (int64_t s = first; s < steps.end; ++s)
        for (int64_t pass = 0; pass < plan_.passes(); ++pass) {
          const StepPass at{s, first, pass};
          if (RoundsStates()) MultiplyStates(worker, part, at, {0, states(pass).kernel.panels()}, of);
          RunPass(part, at, {0, plan_.panels}, of);
        }
    }
    End(part, of);
  }

  // Computes all shares step by step, each of them with all threads. Rounded weights have other panels than
  // the units, so that the threads meet between a product and its gates, too.
  void RunInStep(const Operands& of) {
    for (int64_t i = 0; i < division_.shares(); ++i) Begin(PartOf(i), of);
    for (int64_t first = 0; first < r_.length; first += memory_.steps) {
      const Range steps{first, std::min(r_.length, first + memory_.steps)};
      ForColumns(inputs().kernel.panels(), [&](int worker, const Part& part, Range panels) {
        MultiplyInputs(worker, part, steps, panels, of);
      });
      for (int64_t s = first; s < steps.end; ++s)
        for (int64_t pass = 0; pass < plan_.passes(); ++pass) RunPassInStep({s, first, pass}, of);
    }
    for (int64_t i = 0; i < division_.shares(); ++i) End(PartOf(i), of);
  }

  void RunPassInStep(const StepPass& at, const Operands& of) {
    if (RoundsStates())
      ForColumns(states(at.pass).kernel.panels(), [&](int worker, const Part& part, Range panels) {
        MultiplyStates(worker, part, at, panels, of);
      });
    ForColumns(plan_.panels, [&](int, const Part& part, Range panels) { RunPass(part, at, panels, of); });
  }

  // Divides the panels of all shares among the threads.
  template <class F>
  void ForColumns(int64_t panels, const F& f) {
    const int64_t blocks = division_.column_blocks;
    pool_.For(division_.shares() * blocks, [&](int worker, int64_t begin, int64_t end) {
      for (int64_t b = begin, last; b < end; b = last) {
        const int64_t share = b / blocks, first = share * blocks;
        last = std::min(end, first + blocks);
        f(worker, PartOf(share), Range{panels * (b - first) / blocks, panels * (last - first) / blocks});
      }
    });
  }

  void Begin(const Part& part, const Operands& of) const {
    if (r_.cell != RecurrentCell::kLstm) return;
    std::fill_n(part.inner, part.sequences.size() * plan_.inner(), 0.0f);
    for (int64_t n = part.sequences.begin; of.c && n < part.sequences.end; ++n)
      std::copy_n(of.c + places_.State(part.direction, n), r_.hidden, InnerOf(part, n));
  }

  float* InnerOf(const Part& part, int64_t n) const {
    return part.inner + (n - part.sequences.begin) * plan_.inner();
  }

  // Returns the first of the times that a sequence is at in some steps, of which it has `count`.
  int64_t FirstTime(const Part& part, int64_t n, int64_t first_step, int64_t count) const {
    const int64_t t = places_.TimeOf(part.direction, first_step, lengths_[size_t(n)]);
    return places_.Backward(part.direction) ? t - count + 1 : t;
  }
  int64_t StepsOf(int64_t n, int64_t first_step) const {
    return std::clamp<int64_t>(lengths_[size_t(n)] - first_step, 0, memory_.steps);
  }

  // Multiplies the inputs of some steps, into rows [time][sequence]. A product has the rows of a sequence, or
  // those of a time where these are more and all sequences are at the same times.
  void MultiplyInputs(int worker, const Part& part, Range steps, Range panels, const Operands& of) const {
    const int64_t columns = plan_.columns(), sequences = part.sequences.size(), d = part.direction;
    const GateKernel& kernel = inputs().kernel;
    const std::byte* packed = PackedOf(inputs(), d);
    std::byte* scratch = ScratchOf(worker, inputs());
    Epilogue epilogue;
    epilogue.bias = biases_.inputs.data() + d * columns;
    if (!has_lengths_ && sequences > steps.size()) {
      const int64_t first = FirstTime(part, part.sequences.begin, steps.begin, steps.size());
      for (int64_t i = 0; i < steps.size(); ++i)
        kernel.Run(of.x + places_.X(first + i, part.sequences.begin), places_.x_sequence(), sequences, packed,
                   epilogue, panels, part.products + i * sequences * columns, columns, scratch);
      return;
    }
    for (int64_t n = part.sequences.begin; n < part.sequences.end; ++n) {
      const int64_t count = StepsOf(n, steps.begin);
      if (count == 0) continue;
      kernel.Run(of.x + places_.X(FirstTime(part, n, steps.begin, count), n), places_.x_time(), count, packed,
                 epilogue, panels, part.products + (n - part.sequences.begin) * columns, sequences * columns,
                 scratch);
    }
  }

  // Returns where the state of a sequence lies before step `s`.
  const float* StateBefore(const Part& part, int64_t n, int64_t s, const Operands& of) const {
    if (s > 0) return StateBehind(part, n, s - 1, of);
    return of.h ? of.h + places_.State(part.direction, n) : no_state_.data();
  }
  float* StateBehind(const Part& part, int64_t n, int64_t s, const Operands& of) const {
    const int64_t row = n - part.sequences.begin;
    if (!of.y) return part.states + (s % 2 * part.sequences.size() + row) * r_.hidden;
    return of.y + places_.Y(places_.TimeOf(part.direction, s, lengths_[size_t(n)]), part.direction, n);
  }

  // Calls f(rows) for the sequences of a share that have this step, with some of them at a time.
  template <class F>
  void ForRows(const Part& part, const StepPass& at, const Operands& of, const F& f) const {
    std::array<RecurrentRow, GateKernel::kRows> rows;
    size_t count = 0;
    const int64_t s = at.s;
    const float* sums = part.sums;  // one row after the other
    for (int64_t n = part.sequences.begin; n < part.sequences.end; ++n) {
      const int64_t length = lengths_[size_t(n)];
      if (s >= length) continue;
      const int64_t slot =
          places_.TimeOf(part.direction, s, length) - FirstTime(part, n, at.first, StepsOf(n, at.first));
      const int64_t row = n - part.sequences.begin, product = slot * part.sequences.size() + row;
      rows[count++] = {part.products + product * plan_.columns(), StateBefore(part, n, s, of),
                       StateBehind(part, n, s, of), InnerOf(part, n), sums};
      sums += states(at.pass).gates.columns();
      if (count == rows.size()) {
        f(std::span(rows));
        count = 0;
      }
    }
    if (count > 0) f(std::span(rows).first(count));
  }

  // Multiplies the states by rounded weights. The second pass of a GRU has scaled states.
  void MultiplyStates(int worker, const Part& part, const StepPass& at, Range panels,
                      const Operands& of) const {
    const GateProduct& product = states(at.pass);
    const std::byte* packed = PackedOf(product, part.direction);
    ForRows(part, at, of, [&](std::span<const RecurrentRow> rows) {
      std::array<const float*, GateKernel::kRows> of_rows;
      for (size_t i = 0; i < rows.size(); ++i) of_rows[i] = at.pass == 0 ? rows[i].h : rows[i].inner;
      float* sums = part.sums + (rows[0].sums - part.sums);
      product.kernel.RunRounded(std::span(of_rows).first(rows.size()), packed, {}, panels, sums,
                                product.gates.columns(), ScratchOf(worker, product));
    });
  }

  void RunPass(const Part& part, const StepPass& at, Range panels, const Operands& of) const {
    const RecurrentWeights weights{
        RoundsStates() ? nullptr : reinterpret_cast<const float*>(PackedOf(states(at.pass), part.direction)),
        biases_.hidden.data() + part.direction * plan_.padded_hidden(),
        r_.usual ? nullptr : &r_.rules[size_t(part.direction)],
        peepholes_.empty() ? nullptr : peepholes_.data() + part.direction * 3 * plan_.padded_hidden()};
    ForRows(part, at, of, [&](std::span<const RecurrentRow> rows) {
      RunRecurrentStep(plan_, at.pass, weights, rows, panels);
    });
  }

  // Writes the last states, and zeros behind the end of each sequence.
  void End(const Part& part, const Operands& of) const {
    for (int64_t n = part.sequences.begin; n < part.sequences.end; ++n) {
      const int64_t length = lengths_[size_t(n)], state = places_.State(part.direction, n);
      if (of.last_h) std::copy_n(StateBefore(part, n, length, of), r_.hidden, of.last_h + state);
      if (of.last_c) std::copy_n(InnerOf(part, n), r_.hidden, of.last_c + state);
      for (int64_t t = length; of.y && t < r_.length; ++t)
        std::fill_n(of.y + places_.Y(t, part.direction, n), r_.hidden, 0.0f);
    }
  }

  ThreadPool& pool_;
  const Recurrence r_;
  const RecurrentPrecisions precisions_;
  const RecurrencePlan plan_;
  const SequencePlaces places_{r_};
  std::vector<GateProduct> products_;
  GateBiases biases_;
  std::vector<float> peepholes_;  // empty: there are none
  const std::vector<float> no_state_;
  std::vector<int64_t> lengths_;  // of the sequences in this run
  bool has_lengths_ = false;
  const SequenceDivision division_;
  const SequenceMemory memory_;
  const int64_t blocks_;  // of shares
};

}  // namespace

std::unique_ptr<PreparedNode> Prepare(const Recurrence& recurrence, const Preparation& of) {
  return std::make_unique<RecurrenceStep>(recurrence, of);
}

}  // namespace mete

// LSTM, GRU and RNN.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/error.h"
#include "kernels/fast/gemm/gemm.h"
#include "kernels/fast/recurrence/recurrence.h"
#include "processor/cpu/prepare/gate_weights.h"
#include "processor/cpu/prepare/grid.h"
#include "processor/cpu/prepare/prepare.h"
#include "processor/cpu/prepare/sequences.h"

namespace mete {
namespace {

// The least number of multiply-adds of a block of shares. This value is a guess: they take some microseconds.
constexpr int64_t kLeastMultiplyAdds = 64 << 10;

std::vector<Tensor> PackStates(const RecurrencePlan& plan, const Tensor& weights, Packer& packer) {
  std::vector<Tensor> packed;
  for (int64_t pass = 0; pass < plan.passes(); ++pass)
    packed.push_back(PackGates(plan, plan.states[size_t(pass)], weights, packer));
  return packed;
}

const Tensor* ConstantOf(const Preparation& of, size_t input) {
  const ValueId id = of.node.input(input);
  return id == kNoValue ? nullptr : &of.graph.value(id).constant;
}

class RecurrenceStep : public PreparedNode {
 public:
  RecurrenceStep(const Recurrence& recurrence, const Preparation& of)
      : pool_(of.pool()),
        r_(recurrence),
        plan_(PlanRecurrence(r_.cell, r_.inputs, r_.hidden)),
        inputs_(PackGates(plan_, plan_.inputs, of.graph.value(of.node.inputs[1]).constant, of.packer)),
        states_(PackStates(plan_, of.graph.value(of.node.inputs[2]).constant, of.packer)),
        biases_(BiasesOf(plan_, r_.directions, ConstantOf(of, 3))),
        peepholes_(PeepholesOf(plan_, r_.directions, ConstantOf(of, 7))),
        no_state_(size_t(r_.hidden)),
        lengths_(size_t(r_.batch), r_.length),
        division_(DivideRecurrence(r_, plan_, pool_.step_threads())),
        memory_(MemoryOf(r_, plan_, division_)),
        blocks_(std::min(division_.shares(),
                         BlocksOf(MultiplyAdds(r_), kLeastMultiplyAdds, pool_.step_threads()))) {
    pool_.ReserveShared(memory_.floats * division_.shares() * int64_t{sizeof(float)});
  }

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    const auto input = [&](size_t i) { return i < in.size() ? in[i].as<float>() : nullptr; };
    const auto output = [&](size_t i) { return i < out.size() ? out[i].as<float>() : nullptr; };
    const Operands of{input(0), input(5), input(6), output(0), output(1), output(2)};
    has_lengths_ = in.size() > 4 && in[4].data;
    if (has_lengths_) ReadLengths(in[4]);
    if (division_.column_blocks > 1) return RunInStep(of);
    pool_.For(blocks_, [&](int, int64_t begin, int64_t end) {
      const int64_t shares = division_.shares();
      for (int64_t i = shares * begin / blocks_; i < shares * end / blocks_; ++i) RunShare(i, of);
    });
  }

  Reads reads(size_t input) const override {
    return (input >= 1 && input <= 3) || input == 7 ? Reads::kNothing : Reads::kElements;
  }
  std::string kernel() const override { return fmt::format("{} {}", r_.kernel(), TargetOf(plan_)); }
  std::string reason() const override {
    return division_.column_blocks > 1 ? "threads divide each step" : "";
  }
  int64_t packed_bytes() const override {
    int64_t bytes = int64_t(inputs_.bytes());
    for (const Tensor& pass : states_) bytes += int64_t(pass.bytes());
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
    float *products, *inner, *states;  // working memory
  };

  Part PartOf(int64_t share) {
    const int64_t block = share % division_.row_blocks, blocks = division_.row_blocks;
    float* memory = reinterpret_cast<float*>(pool_.shared()) + share * memory_.floats;
    return {share / blocks,
            {r_.batch * block / blocks, r_.batch * (block + 1) / blocks},
            memory,
            memory + memory_.inner,
            memory + memory_.states};
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
  void RunShare(int64_t share, const Operands& of) {
    const Part part = PartOf(share);
    Begin(part, of);
    const int64_t length = LongestOf(part);
    for (int64_t first = 0; first < length; first += memory_.steps) {
      const Range steps{first, std::min(length, first + memory_.steps)};
      MultiplyInputs(part, steps, {0, plan_.inputs.gemm.panels}, of);
      for (int64_t s = first; s < steps.end; ++s)
        for (int64_t pass = 0; pass < plan_.passes(); ++pass)
          RunPass(part, {s, first, pass}, {0, plan_.panels}, of);
    }
    End(part, of);
  }

  // Computes all shares step by step, each of them with all threads.
  void RunInStep(const Operands& of) {
    for (int64_t i = 0; i < division_.shares(); ++i) Begin(PartOf(i), of);
    for (int64_t first = 0; first < r_.length; first += memory_.steps) {
      const Range steps{first, std::min(r_.length, first + memory_.steps)};
      ForColumns(plan_.inputs.gemm.panels,
                 [&](const Part& part, Range panels) { MultiplyInputs(part, steps, panels, of); });
      for (int64_t s = first; s < steps.end; ++s)
        for (int64_t pass = 0; pass < plan_.passes(); ++pass)
          ForColumns(plan_.panels, [&](const Part& part, Range panels) {
            RunPass(part, {s, first, pass}, panels, of);
          });
    }
    for (int64_t i = 0; i < division_.shares(); ++i) End(PartOf(i), of);
  }

  // Divides the panels of all shares among the threads.
  template <class F>
  void ForColumns(int64_t panels, const F& f) {
    const int64_t blocks = division_.column_blocks;
    pool_.For(division_.shares() * blocks, [&](int, int64_t begin, int64_t end) {
      for (int64_t b = begin, last; b < end; b = last) {
        const int64_t share = b / blocks, first = share * blocks;
        last = std::min(end, first + blocks);
        f(PartOf(share), Range{panels * (b - first) / blocks, panels * (last - first) / blocks});
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
  void MultiplyInputs(const Part& part, Range steps, Range panels, const Operands& of) const {
    const int64_t columns = plan_.columns(), sequences = part.sequences.size(), d = part.direction;
    const float* packed = inputs_.as<float>() + d * columns * r_.inputs;
    Epilogue epilogue;
    epilogue.bias = biases_.inputs.data() + d * columns;
    if (!has_lengths_ && sequences > steps.size()) {
      const int64_t first = FirstTime(part, part.sequences.begin, steps.begin, steps.size());
      for (int64_t i = 0; i < steps.size(); ++i)
        RunGemm(plan_.inputs.gemm, of.x + places_.X(first + i, part.sequences.begin), places_.x_sequence(),
                packed, epilogue, {0, sequences}, panels, part.products + i * sequences * columns, columns);
      return;
    }
    for (int64_t n = part.sequences.begin; n < part.sequences.end; ++n) {
      const int64_t count = StepsOf(n, steps.begin);
      if (count == 0) continue;
      RunGemm(plan_.inputs.gemm, of.x + places_.X(FirstTime(part, n, steps.begin, count), n),
              places_.x_time(), packed, epilogue, {0, count}, panels,
              part.products + (n - part.sequences.begin) * columns, sequences * columns);
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

  // A pass of step `s`, whose inputs were multiplied together with those of step `first`.
  struct StepPass {
    int64_t s, first, pass;
  };

  void RunPass(const Part& part, const StepPass& at, Range panels, const Operands& of) const {
    const int64_t s = at.s;
    constexpr size_t kRows = 64;  // on the stack; the weights are read again for more
    std::array<RecurrentRow, kRows> rows;
    size_t count = 0;
    const int64_t columns = plan_.states[size_t(at.pass)].columns();
    const RecurrentWeights weights{
        states_[size_t(at.pass)].as<float>() + part.direction * columns * r_.hidden,
        biases_.hidden.data() + part.direction * plan_.padded_hidden(),
        r_.usual ? nullptr : &r_.rules[size_t(part.direction)],
        peepholes_.empty() ? nullptr : peepholes_.data() + part.direction * 3 * plan_.padded_hidden()};
    const auto run = [&] {
      RunRecurrentStep(plan_, at.pass, weights, std::span(rows).first(count), panels);
      count = 0;
    };
    for (int64_t n = part.sequences.begin; n < part.sequences.end; ++n) {
      const int64_t length = lengths_[size_t(n)];
      if (s >= length) continue;
      const int64_t slot =
          places_.TimeOf(part.direction, s, length) - FirstTime(part, n, at.first, StepsOf(n, at.first));
      const int64_t row = slot * part.sequences.size() + n - part.sequences.begin;
      rows[count++] = {part.products + row * plan_.columns(), StateBefore(part, n, s, of),
                       StateBehind(part, n, s, of), InnerOf(part, n)};
      if (count == kRows) run();
    }
    if (count > 0) run();
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
  const RecurrencePlan plan_;
  const SequencePlaces places_{r_};
  const Tensor inputs_;               // packed weights
  const std::vector<Tensor> states_;  // those of each pass
  const GateBiases biases_;
  const std::vector<float> peepholes_;
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

#include "processor/opencl/kernels/matvec.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "processor/opencl/kernels/functions.h"
#include "processor/opencl/kernels/writer.h"

namespace mete::opencl {
namespace {

constexpr const char* kWhere = "GPU product of rows";

void Check(const MatVecSpec& s, const MatVecTile& tile) {
  CheckElements(kWhere, {s.batch, s.rows, s.n, s.k, s.batch * s.rows * s.n, s.batch * s.rows * s.k,
                         s.batch * s.n * s.k});
  if (s.rows > MatVecSpec::kMostRows)
    Invalid(kWhere, "there are too many rows; got {}, expected at most {}; try ConvKernel", s.rows,
            MatVecSpec::kMostRows);
  if (tile.lanes < 1 || !std::has_single_bit(unsigned(tile.lanes)))
    Invalid(kWhere, "the work-items of a sum are no power of two; got {}, expected 1, 2, 4, ...", tile.lanes);
}

MatVecTile Fitted(const MatVecSpec& s, MatVecTile tile) {
  tile.vector = VectorWidth(std::min<int64_t>(tile.vector, s.rows_of_n ? s.k : s.n));
  const int64_t columns = s.rows_of_n ? 1 : tile.vector;  // of an output
  tile.outputs = int(std::clamp<int64_t>(s.n / columns, 1, tile.outputs));
  if (s.rows_of_n) tile.columns = 1;
  return tile;
}

// The text's names: b: the product; m: the first column of the work-item; lane: its part of K; s1_2: the sum
// of row 1 and output 2.
class MatVecText {
 public:
  MatVecText(const MatVecSpec& spec, const MatVecTile& tile)
      : spec_(spec),
        tile_(Fitted(spec, tile)),
        width_(spec.rows_of_n ? 1 : tile_.vector),
        tiles_(CeilDiv(spec.n, int64_t{tile_.outputs} * width_)) {}

  KernelText Write() {
    KernelText k;
    k.name = "matvec";
    const int lanes_at = spec_.rows_of_n ? 0 : 1;
    k.group[size_t(lanes_at)] = k.items[size_t(lanes_at)] = tile_.lanes;
    k.group[size_t(1 - lanes_at)] = tile_.columns;
    k.items[size_t(1 - lanes_at)] = RoundUp(tiles_, tile_.columns);
    k.items[2] = spec_.batch;
    w_.Line("#ifdef FP_FAST_FMAF\n#define MAC fma\n#else\n#define MAC mad\n#endif\n{}", Taken().Head(k));
    if (tile_.lanes > 1) w_.Line("local {} shared[{}];", FloatVector(width_), tile_.lanes * tile_.columns);
    w_.Line("const int lane=get_local_id({}),tile=get_global_id({}),b=get_global_id(2);", lanes_at,
            1 - lanes_at);
    w_.Line("const int m=min(tile*{0},{1});", tile_.outputs * width_, spec_.n - tile_.outputs * width_);
    w_.Line("global const {}* xp=input+b*{};", ElementName(spec_.input), spec_.rows * spec_.k);
    ForSums([&](int64_t row, int output) { w_.Line("{} s{}_{}=0;", FloatVector(width_), row, output); });
    if (spec_.rows_of_n) SumAlongK();
    else SumAcrossK();
    if (tile_.lanes > 1) {
      ForSums([&](int64_t row, int output) { Share(fmt::format("s{}_{}", row, output)); });
      w_.Line("if(lane)return;");
    }
    if (tile_.columns > 1) w_.Line("if(tile>={})return;", tiles_);
    ForSums([&](int64_t row, int output) { Store(row, output); });
    w_.Line("}}");
    k.source = w_.text();
    return k;
  }

 private:
  Arguments Taken() const {
    const std::string out = ElementName(spec_.output);
    Arguments arguments;
    arguments.Add("const " + ElementName(spec_.input), "input");
    arguments.Add("const " + ElementName(spec_.weights), "weights");
    if (spec_.bias) arguments.Add("const float", "bias");
    if (spec_.residual) arguments.Add("const " + out, "residual");
    return arguments.Add(out, "output");
  }

  template <class F>
  void ForSums(const F& of_sum) {
    for (int64_t row = 0; row < spec_.rows; ++row)
      for (int output = 0; output < tile_.outputs; ++output) of_sum(row, output);
  }

  // Vectors of neighbouring steps of K, whose lanes are summed at the end.
  void SumAlongK() {
    const int64_t whole = spec_.k / tile_.vector * tile_.vector;
    w_.Line("global const {}* wp=weights+(b*{}+m)*{};\n{{", ElementName(spec_.weights), spec_.n, spec_.k);
    ForSums(
        [&](int64_t row, int output) { w_.Line("{} v{}_{}=0;", FloatVector(tile_.vector), row, output); });
    LoopAlongK(0, whole, tile_.vector, "v");
    ForSums([&](int64_t row, int output) {
      std::string sum;
      for (int i = 0; i < tile_.vector; ++i)
        sum += (i ? "+" : "") + LaneText(fmt::format("v{}_{}", row, output), tile_.vector, i);
      w_.Line("s{}_{}={};", row, output, sum);
    });
    w_.Line("}}");
    LoopAlongK(whole, spec_.k, 1, "s");
  }

  void LoopAlongK(int64_t first, int64_t end, int width, const char* into) {
    if (first == end) return;
    w_.Line("for(int k={}+lane*{};k<{};k+={}){{", first, width, end, tile_.lanes * width);
    for (int64_t row = 0; row < spec_.rows; ++row)
      w_.Line("const {} x{}={};", FloatVector(width), row,
              LoadText(spec_.input, width, "xp", fmt::format("k+{}", row * spec_.k)));
    for (int output = 0; output < tile_.outputs; ++output) {
      w_.Line("{{const {} a={};", FloatVector(width),
              LoadText(spec_.weights, width, "wp", fmt::format("k+{}", output * spec_.k)));
      for (int64_t row = 0; row < spec_.rows; ++row)
        w_.Line("{0}{1}_{2}=MAC(x{1},a,{0}{1}_{2});", into, row, output);
      w_.Line("}}");
    }
    w_.Line("}}");
  }

  // Vectors of neighbouring columns; a lane has every `lanes`-th step of K.
  void SumAcrossK() {
    w_.Line("global const {}* wp=weights+b*{}+m;", ElementName(spec_.weights), spec_.n * spec_.k);
    w_.Line("for(int k=lane;k<{};k+={}){{", spec_.k, tile_.lanes);
    for (int64_t row = 0; row < spec_.rows; ++row)
      w_.Line("const {0} x{1}=({0}){2};", FloatVector(width_), row,
              LoadText(spec_.input, 1, "xp", fmt::format("k+{}", row * spec_.k)));
    for (int output = 0; output < tile_.outputs; ++output) {
      w_.Line("{{const {} a={};", FloatVector(width_),
              LoadText(spec_.weights, width_, "wp", fmt::format("k*{}+{}", spec_.n, output * width_)));
      for (int64_t row = 0; row < spec_.rows; ++row) w_.Line("s{0}_{1}=MAC(x{0},a,s{0}_{1});", row, output);
      w_.Line("}}");
    }
    w_.Line("}}");
  }

  // Adds the sums of all lanes; lane 0 has the result.
  void Share(const std::string& sum) {
    w_.Line("barrier(CLK_LOCAL_MEM_FENCE);\n{{const int at=lane*{0}+get_local_id({1})*{2};shared[at]={3};",
            tile_.columns, spec_.rows_of_n ? 1 : 0, tile_.columns > 1 ? 1 : 0, sum);
    for (int half = tile_.lanes / 2; half > 0; half /= 2)
      w_.Line("barrier(CLK_LOCAL_MEM_FENCE);\nif(lane<{0})shared[at]+=shared[at+{1}];", half,
              half * tile_.columns);
    w_.Line("{}=shared[at];}}", sum);
  }

  void Store(int64_t row, int output) {
    const int first = output * width_;
    const std::string at = fmt::format("(b*{}+{})*{}+m+{}", spec_.rows, row, spec_.n, first);
    w_.Line("{{{} v=s{}_{}{};", FloatVector(width_), row, output,
            spec_.scale == 1 ? "" : "*" + FloatLiteral(spec_.scale));
    if (spec_.bias) w_.Line("v+={};", LoadText(DType::kF32, width_, "bias", fmt::format("m+{}", first)));
    if (spec_.residual) w_.Line("v+={};", LoadText(spec_.output, width_, "residual", at));
    w_.Line("v={};", FunctionText(spec_.activation, width_, "v"));
    w_.Line("{}}}", StoreText(spec_.output, width_, "v", "output", at));
  }

  const MatVecSpec& spec_;
  const MatVecTile tile_;
  const int width_;      // columns of an output
  const int64_t tiles_;  // of all columns
  Writer w_;
};

}  // namespace

KernelText MatVecKernel(const MatVecSpec& spec, const MatVecTile& tile) {
  Check(spec, tile);
  return MatVecText(spec, tile).Write();
}

MatVecTile ChooseMatVecTile(const MatVecSpec& s, const TileDevice& device) {
  const auto share = [&](int64_t sums) { return int(std::max<int64_t>(1, sums / s.rows)); };
  // Neighbouring threads of a GPU read neighbouring weights, 512 bytes and more of a row at once; 256 threads
  // share a sum's parts of K. An estimate.
  if (!device.is_cpu && s.rows_of_n) return {.vector = 4, .outputs = share(4), .lanes = 64};
  if (!device.is_cpu) return {.vector = 4, .outputs = 1, .lanes = 8, .columns = 32};
  // PoCL on one core with AVX-512, 25088 x 4096 and 4096 x 4096: with rows of N, 8 rows at once read memory
  // as fast as a copy does, 4 or 16 take up to 1.5 times as long; else 16 vectors side by side, 1 KiB of a
  // row, reach 0.8 of a copy, and 4 reach 0.45. Other cores have half the registers.
  const int vector = VectorWidth(std::max(device.vector, 4));
  if (s.rows_of_n) return {.vector = vector, .outputs = share(8)};
  return {.vector = vector, .outputs = share(vector == 16 ? 16 : 8)};
}

}  // namespace mete::opencl

#include "processor/opencl/kernels/rows.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "processor/opencl/kernels/functions.h"
#include "processor/opencl/kernels/writer.h"

namespace mete::opencl {
namespace {

class RowText {
 public:
  RowText(const RowSpec& spec, int vector, int lanes) : spec_(spec), vector_(vector), lanes_(lanes) {}

  KernelText Write() {
    KernelText k;
    k.name = "rows";
    k.group[0] = lanes_;
    k.items[0] = spec_.rows * lanes_;
    const std::string type = ElementName(spec_.type);
    constexpr auto kAllowed = Arguments::Overlap::kAllowed;  // input and output may be the same
    Arguments arguments;
    arguments.Add("const " + type, "input", kAllowed);
    if (spec_.scores && spec_.scores->mask)
      arguments.Add("const " + ElementName(spec_.scores->mask_type), "mask", kAllowed);
    if (spec_.scale) arguments.Add("const float", "scale", kAllowed);
    if (spec_.shift) arguments.Add("const float", "shift", kAllowed);
    w_.Line("{}", arguments.Add(type, "output", kAllowed).Head(k));
    if (lanes_ > 1) w_.Line("local float shared[{}];", lanes_);
    w_.Line("const int lane=get_local_id(0);");
    w_.Line("global const {0}* xp=input+get_group_id(0)*{1};global {0}* yp=output+get_group_id(0)*{1};", type,
            spec_.length);
    if (spec_.scores) Query();
    if (spec_.function == RowFunction::kSoftmax || spec_.function == RowFunction::kLogSoftmax) {
      Softmax();
    } else {
      Normalise();
    }
    w_.Line("}}");
    k.source = w_.text();
    return k;
  }

 private:
  // Writes a loop over the elements of this lane: `body(width)` is the text for the vector `x` at `i`.
  template <class Body>
  void ForElements(const Body& body) {
    const int64_t whole = spec_.length / vector_ * vector_;
    const auto loop = [&](int64_t first, int64_t end, int width) {
      if (first == end) return;
      w_.Line("for(int i={}+lane*{};i<{};i+={}){{{} x={};\n{}{}}}", first, width, end, lanes_ * width,
              FloatVector(width), LoadText(spec_.type, width, "xp", "i"), spec_.scores ? Bias(width) : "",
              body(width));
    };
    loop(0, whole, vector_);
    if (vector_ > 1) loop(whole, spec_.length, 1);
  }

  // Declares `name` as the sum, or the maximum, over the row of value(x), an expression of `x`.
  void Reduce(const std::string& name, bool most, const std::string& value) {
    const auto join = [&](const std::string& a, const std::string& b) {
      return most ? fmt::format("max({},{})", a, b) : fmt::format("({}+{})", a, b);
    };
    const std::string start = most ? "(-INFINITY)" : "0.0f";
    w_.Line("float {0}={1};\n{{{2} many={1};", name, start, FloatVector(vector_));
    ForElements([&](int width) {
      const std::string into = width == vector_ ? "many" : name;
      return fmt::format("{}={};", into, join(into, value));
    });
    for (int i = 0; i < vector_; ++i) w_.Line("{}={};", name, join(name, LaneText("many", vector_, i)));
    w_.Line("}}");
    if (lanes_ == 1) return;
    w_.Line("barrier(CLK_LOCAL_MEM_FENCE);\nshared[lane]={};",
            name);  // the last sum has been read by all lanes
    for (int half = lanes_ / 2; half > 0; half /= 2)
      w_.Line("barrier(CLK_LOCAL_MEM_FENCE);\nif(lane<{0})shared[lane]={1};", half,
              join("shared[lane]", fmt::format("shared[lane+{}]", half)));
    w_.Line("barrier(CLK_LOCAL_MEM_FENCE);\n{}=shared[0];", name);
  }

  void Store(const std::string& value) {
    ForElements([&](int width) {
      std::string v = value;
      if (spec_.scale) v = fmt::format("({})*{}", v, Affine("scale", width));
      if (spec_.shift) v = fmt::format("({})+{}", v, Affine("shift", width));
      return StoreText(spec_.type, width, v, "yp", "i");
    });
  }

  // Declares the first key that the row's query sees, the key behind the last one, and its row of the mask.
  void Query() {
    const ScoreRows& s = *spec_.scores;
    const int64_t inner = s.heads_first ? s.queries : s.heads, outer = s.heads_first ? s.heads : s.queries;
    w_.Line("const int row=get_group_id(0),i0=row%{0},i1=row/{0}%{1},b=row/{2};", inner, outer,
            inner * outer);
    w_.Line("const int query={},head={};", s.heads_first ? "i0" : "i1", s.heads_first ? "i1" : "i0");
    int64_t behind = spec_.length;
    if (s.mask) behind = std::min(behind, s.mask_length);
    w_.Line("int first=0,end={};\nconst long place=query+{}L;", behind, s.past);
    if (s.left >= 0) w_.Line("first=clamp(place-{}L,0L,{}L);", s.left, spec_.length);
    int64_t right = s.right;
    if (s.causal) right = 0;
    if (right >= 0) w_.Line("end=clamp(place+{}L+1L,0L,(long)end);", right);
    if (s.mask)
      w_.Line("global const {}* mp=mask+b*{}+head*{}+query*{};", ElementName(s.mask_type), s.mask_strides[0],
              s.mask_strides[1], s.mask_strides[2]);
  }

  // Returns statements that turn the scores `x` at i into those that softmax sees.
  std::string Bias(int width) const {
    const ScoreRows& s = *spec_.scores;
    std::string text;
    if (s.softcap > 0) text += fmt::format("x={0}*tanh(x/{0});", FloatLiteral(s.softcap));
    for (int lane = 0; lane < width; ++lane) {
      const std::string x = LaneText("x", width, lane), i = fmt::format("i+{}", lane);
      const std::string seen = fmt::format("{0}>=first&&{0}<end", i);
      if (!s.mask) {
        text += fmt::format("if(!({})){}=-INFINITY;", seen, x);
      } else if (s.mask_type == DType::kU8) {
        text += fmt::format("if(!({}&&mp[{}])){}=-INFINITY;", seen, i, x);
      } else {
        text += fmt::format("{0}={1}?{0}+{2}:-INFINITY;", x, seen, LoadText(s.mask_type, 1, "mp", i));
      }
    }
    return text;
  }

  // Returns the scale or shift of the elements at `i`, which are of one run unless runs have one element.
  std::string Affine(const std::string& of, int width) const {
    const std::string row = spec_.affine_rows > 1 ? fmt::format("get_group_id(0)%{}*{}+", spec_.affine_rows,
                                                                spec_.length / spec_.affine_run)
                                                  : "";
    if (spec_.affine_run == 1) return LoadText(DType::kF32, width, of, row + "i");
    return LoadText(DType::kF32, 1, of, fmt::format("{}i/{}", row, spec_.affine_run));
  }

  void Softmax() {
    Reduce("top", true, "x");
    if (spec_.scores) w_.Line("if(top==-INFINITY)top=0;");  // all powers are 0 then, and so is the row
    Reduce("sum", false, "exp(x-top)");
    if (spec_.function == RowFunction::kLogSoftmax) {
      w_.Line("const float base=log(sum);");
      return Store("x-top-base");
    }
    w_.Line("const float factor={};", spec_.scores ? "sum>0?1.0f/sum:0.0f" : "1.0f/sum");
    Store("exp(x-top)*factor");
  }

  void Normalise() {
    const bool centred = spec_.function == RowFunction::kLayerNorm;
    if (centred) {
      Reduce("sum", false, "x");
      w_.Line("const float mean=sum*{};", FloatLiteral(1 / float(spec_.length)));
    }
    const std::string x = centred ? "(x-mean)" : "x";
    Reduce("squares", false, fmt::format("{0}*{0}", x));
    w_.Line("const float factor=1.0f/sqrt(squares*{}+{});", FloatLiteral(1 / float(spec_.length)),
            FloatLiteral(spec_.epsilon));
    Store(x + "*factor");
  }

  const RowSpec spec_;
  const int vector_, lanes_;
  Writer w_;
};

}  // namespace

KernelText RowKernel(const RowSpec& spec, int vector, int lanes) {
  CheckElements("GPU rows", {spec.rows, spec.length, spec.rows * spec.length});
  if (lanes < 1 || !std::has_single_bit(unsigned(lanes)))
    Invalid("GPU rows", "the work-items of a row are no power of two; got {}, expected 1, 2, 4, ...", lanes);
  if (spec.scores && (spec.function != RowFunction::kSoftmax || spec.scores->heads < 1 ||
                      spec.scores->queries < 1 || spec.rows % (spec.scores->heads * spec.scores->queries)))
    Invalid("GPU rows",
            "the rows are not scores of heads; got {} rows, expected a softmax of a multiple of {} x {}",
            spec.rows, spec.scores->heads, spec.scores->queries);
  if (spec.affine_run < 1 || spec.length % spec.affine_run || spec.affine_rows < 1)
    Invalid("GPU rows", "runs of scales do not divide a row; got {} of {}, expected a divisor",
            spec.affine_run, spec.length);
  int width = VectorWidth(vector);
  while (spec.affine_run > 1 && spec.affine_run % width) width /= 2;
  return RowText(spec, width, lanes).Write();
}

}  // namespace mete::opencl

#include "processor/opencl/kernels/reduce.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "processor/opencl/kernels/writer.h"

namespace mete::opencl {
namespace {

constexpr const char* kWhere = "GPU reduction";
constexpr int64_t kGroup = 64;  // as in window.cc

// Neighbouring axes of a tensor that are walked through as one.
struct Axes {
  int64_t size = 1, stride = 1;
};
struct Split {
  std::vector<Axes> kept, reduced;  // the last ones are the innermost

  static int64_t Count(const std::vector<Axes>& all) {
    int64_t count = 1;
    for (const Axes& axes : all) count *= axes.size;
    return count;
  }
};

Split SplitOf(const ReduceSpec& spec) {
  if (spec.sizes.size() != spec.reduced.size())
    Invalid(kWhere, "the axes are not those of the input; got {}, expected {}", spec.reduced.size(),
            spec.sizes.size());
  Split split;
  int64_t stride = 1;
  const std::vector<Axes>* before = nullptr;
  for (size_t d = spec.sizes.size(); d-- > 0;) {
    const int64_t size = spec.sizes[d];
    CheckElements(kWhere, {size, stride * size});
    if (size == 1) continue;
    std::vector<Axes>& axes = spec.reduced[d] ? split.reduced : split.kept;
    if (before == &axes) axes.front().size *= size;
    else axes.insert(axes.begin(), {size, stride});
    before = &axes;
    stride *= size;
  }
  return split;
}

int LanesFor(int lanes, int64_t elements) {
  if (lanes < 1 || !std::has_single_bit(unsigned(lanes)))
    Invalid(kWhere, "the work-items of an output are no power of two; got {}, expected 1, 2, 4, ...", lanes);
  return int(std::min<int64_t>(lanes, int64_t(std::bit_floor(uint64_t(elements)))));
}

// Returns the largest width of at most `most` that divides the innermost axes, if these are contiguous.
int WidthOf(const std::vector<Axes>& all, int most) {
  if (all.empty() || all.back().stride != 1) return 1;
  int width = VectorWidth(most);
  while (all.back().size % width) width /= 2;
  return width;
}

// Declares `name` as the element where the axes have the number `counter`, each number of the innermost
// axes standing for `width` of its first `size` elements.
void WriteOffset(Writer& w, const std::vector<Axes>& all, const std::string& counter, const std::string& name,
                 int64_t size, int64_t width) {
  if (all.empty()) return w.Line("const int {}=0;", name);
  std::string sum, rest = counter;
  for (size_t i = all.size(); i-- > 0;) {
    const bool innermost = i + 1 == all.size();
    const int64_t count = innermost ? size / width : all[i].size;
    const std::string index = i ? fmt::format("({}%{})", rest, count) : rest;
    sum += fmt::format("{}{}*{}", sum.empty() ? "" : "+", index, all[i].stride * (innermost ? width : 1));
    rest = fmt::format("({}/{})", rest, count);
  }
  w.Line("const int {}={};", name, sum);
}

std::string Join(ReduceFunction function, const std::string& a, const std::string& b) {
  switch (function) {
    case ReduceFunction::kMax: return fmt::format("max({},{})", a, b);
    case ReduceFunction::kMin: return fmt::format("min({},{})", a, b);
    case ReduceFunction::kProd: return fmt::format("{}*{}", a, b);
    default: return fmt::format("{}+{}", a, b);
  }
}

std::string Start(ReduceFunction function) {
  switch (function) {
    case ReduceFunction::kMax: return "-INFINITY";
    case ReduceFunction::kMin: return "INFINITY";
    case ReduceFunction::kProd: return "1.0f";
    default: return "0.0f";
  }
}

std::string Term(ReduceFunction function) {
  switch (function) {
    case ReduceFunction::kL1: return "fabs(x)";
    case ReduceFunction::kL2:
    case ReduceFunction::kSumSquare: return "x*x";
    default: return "x";
  }
}

class ReduceText {
 public:
  ReduceText(const ReduceSpec& spec, const ReduceTile& tile)
      : spec_(spec),
        split_(SplitOf(spec)),
        elements_(Split::Count(split_.reduced)),
        outputs_(WidthOf(split_.kept, tile.vector)),
        across_(outputs_ > 1 || split_.reduced.empty()),
        inputs_(across_ || split_.reduced.back().stride != 1 ? 1 : VectorWidth(tile.vector)),
        lanes_(LanesFor(tile.lanes, CeilDiv(elements_, inputs_))) {}

  KernelText Write() {
    const int64_t items = Split::Count(split_.kept) / outputs_;
    KernelText k;
    k.name = "reduce";
    k.group[0] = lanes_ > 1 ? lanes_ : kGroup;
    k.items[0] = lanes_ > 1 ? items * lanes_ : RoundUp(items, kGroup);
    w_.Line("{}", Arguments()
                      .Add("const " + ElementName(spec_.input), "input")
                      .Add(ElementName(spec_.output), "output")
                      .Head(k));
    if (lanes_ > 1) w_.Line("local {} shared[{}];", FloatVector(outputs_), lanes_);
    w_.Line("const int lane={},item=get_global_id(0)/{};", lanes_ > 1 ? "get_local_id(0)" : "0", lanes_);
    if (lanes_ == 1) w_.Line("if(item>={})return;", items);
    WriteOffset(w_, split_.kept, "item", "base", split_.kept.empty() ? 1 : split_.kept.back().size, outputs_);
    w_.Line("global const {}* xp=input+base;", ElementName(spec_.input));
    Result();
    if (lanes_ > 1) w_.Line("if(lane==0){{");
    w_.Line("{}", StoreText(spec_.output, outputs_, "v", "output", fmt::format("item*{}", outputs_)));
    w_.Line("{}", lanes_ > 1 ? "}}" : "}");
    k.source = w_.text();
    return k;
  }

 private:
  // Declares `v` as the results.
  void Result() {
    using F = ReduceFunction;
    if (spec_.function == F::kLogSumExp) {
      Fold("top", F::kMax, "x");
      Fold("sum", F::kSum, "exp(x-top)");
      // An infinite maximum is the result: it has no distance to itself.
      return w_.Line("const {} v=select(top+log(sum),top,isinf(top));", FloatVector(outputs_));
    }
    Fold("sum", spec_.function, Term(spec_.function));
    std::string v = "sum";
    if (spec_.function == F::kMean) v = fmt::format("sum/{}", FloatLiteral(float(elements_)));
    if (spec_.function == F::kL2) v = "sqrt(sum)";
    if (spec_.function == F::kLogSum) v = "log(sum)";
    w_.Line("const {} v={};", FloatVector(outputs_), v);
  }

  // Declares `name` as the terms of all elements joined: an expression of `x`.
  void Fold(const std::string& name, ReduceFunction function, const std::string& term) {
    w_.Line("{0} {1}={2};\n{{{3} many={2};", FloatVector(outputs_), name, Start(function),
            FloatVector(width()));
    if (split_.reduced.empty()) {
      Loop("many", function, term, 0, 1, outputs_);
    } else {
      const int64_t size = split_.reduced.back().size, whole = size / inputs_ * inputs_;
      Loop("many", function, term, 0, whole, width());
      if (whole < size) Loop(name, function, term, whole, size - whole, 1);
    }
    if (across_) w_.Line("{}={};", name, Join(function, name, "many"));
    else
      for (int i = 0; i < inputs_; ++i)
        w_.Line("{}={};", name, Join(function, name, LaneText("many", inputs_, i)));
    w_.Line("}}");
    if (lanes_ > 1) Share(name, function);
  }

  // Joins `count` elements from `first` on of the innermost axes, and those of all others, into `into`.
  void Loop(const std::string& into, ReduceFunction function, const std::string& term, int64_t first,
            int64_t count, int width) {
    if (count == 0) return;
    const int64_t step = across_ ? 1 : width;
    const int64_t inner = split_.reduced.empty() ? 1 : split_.reduced.back().size;
    w_.Line("for(int i=lane;i<{};i+={}){{", elements_ / inner * (count / step), lanes_);
    WriteOffset(w_, split_.reduced, "i", "at", count, step);
    w_.Line("const {} x={};", FloatVector(width),
            LoadText(spec_.input, width, "xp", first ? fmt::format("at+{}", first) : "at"));
    w_.Line("{}={};}}", into, Join(function, into, term));
  }

  // Joins the lanes' values, which all lanes have afterwards.
  void Share(const std::string& name, ReduceFunction function) {
    w_.Line("barrier(CLK_LOCAL_MEM_FENCE);\nshared[lane]={};", name);  // what was there has been read
    for (int half = lanes_ / 2; half > 0; half /= 2)
      w_.Line("barrier(CLK_LOCAL_MEM_FENCE);\nif(lane<{0})shared[lane]={1};", half,
              Join(function, "shared[lane]", fmt::format("shared[lane+{}]", half)));
    w_.Line("barrier(CLK_LOCAL_MEM_FENCE);\n{}=shared[0];", name);
  }

  int width() const { return across_ ? outputs_ : inputs_; }

  const ReduceSpec& spec_;
  const Split split_;
  const int64_t elements_;  // of an output
  const int outputs_;       // of a work-item
  const bool across_;       // work-items read outputs_ elements at once, not inputs_ of one output
  const int inputs_, lanes_;
  Writer w_;
};

}  // namespace

KernelText ReduceKernel(const ReduceSpec& spec, const ReduceTile& tile) {
  return ReduceText(spec, tile).Write();
}

KernelText ArgKernel(const ReduceSpec& spec, int most_lanes, bool last) {
  const Split split = SplitOf(spec);
  if (split.reduced.size() > 1 ||
      (spec.function != ReduceFunction::kMax && spec.function != ReduceFunction::kMin))
    Invalid(kWhere, "an index needs one axis and kMax or kMin; got {} axes", split.reduced.size());
  const Axes axis = split.reduced.empty() ? Axes{} : split.reduced.front();
  const int lanes = LanesFor(most_lanes, axis.size);
  const int64_t outputs = Split::Count(split.kept);
  KernelText k;
  k.name = "arg";
  k.group[0] = lanes > 1 ? lanes : kGroup;
  k.items[0] = lanes > 1 ? outputs * lanes : RoundUp(outputs, kGroup);
  Writer w;
  // Whether the element x at i takes the place of v at `best`.
  w.Line("#define TAKES(x,i,v,best) (isnan(x)?!isnan(v)||i{0}best:!isnan(v)&&(x{1}v||(x==v&&i{0}best)))",
         last ? ">" : "<", spec.function == ReduceFunction::kMax ? ">" : "<");
  w.Line("{}", Arguments().Add("const " + ElementName(spec.input), "input").Add("long", "output").Head(k));
  if (lanes > 1) w.Line("local float values[{0}];local int places[{0}];", lanes);
  w.Line("const int lane={},item=get_global_id(0)/{};", lanes > 1 ? "get_local_id(0)" : "0", lanes);
  if (lanes == 1) w.Line("if(item>={})return;", outputs);
  WriteOffset(w, split.kept, "item", "base", split.kept.empty() ? 1 : split.kept.back().size, 1);
  const auto element = [&](const std::string& i) {
    return LoadText(spec.input, 1, "input", fmt::format("base+{}*{}", i, axis.stride));
  };
  w.Line("int best=lane;float v={};", element("lane"));
  w.Line("for(int i=lane+{0};i<{1};i+={0}){{const float x={2};if(TAKES(x,i,v,best)){{v=x;best=i;}}}}", lanes,
         axis.size, element("i"));
  if (lanes > 1) w.Line("values[lane]=v;places[lane]=best;");
  // Each lane's own element stays in its registers, and others only read what it has written for them.
  for (int half = lanes / 2; half > 0; half /= 2)
    w.Line(
        "barrier(CLK_LOCAL_MEM_FENCE);\nif(lane<{0}){{const float x=values[lane+{0}];const int "
        "i=places[lane+{0}];if(TAKES(x,i,v,best)){{v=x;best=i;}}values[lane]=v;places[lane]=best;}}",
        half);
  w.Line("{}", lanes > 1 ? "if(lane==0)output[item]=best;}" : "output[item]=best;}");
  k.source = w.text();
  return k;
}

ReduceTile ChooseReduceTile(const ReduceSpec& spec, bool is_cpu, int vector) {
  // A GPU's multiprocessor wants some hundred threads, and a device has ten or more of them: an estimate.
  constexpr int64_t kThreads = 4096;
  if (is_cpu) return {.vector = vector, .lanes = 1};
  const int64_t outputs = Split::Count(SplitOf(spec).kept);
  int lanes = 1;
  while (lanes < kGroup && outputs * lanes < kThreads) lanes *= 2;
  return {.vector = 4, .lanes = lanes};
}

}  // namespace mete::opencl

// Writes Einsums as matrix products between transpositions, for which there are fast kernels. More than two
// operands are multiplied one after the other: "ab,bc,cd->ad" is "ac,cd->ad" of the product of the first two.
// For example, "bqhd,bkhd->bhqk" is the product of (b, h, q, d) and (b, h, d, k). Indices that one operand
// alone has and that are summed are added up before the product. What has a diagonal ("ii->i") stays an
// Einsum.
#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "base/einsum.h"
#include "graph/node_names.h"
#include "passes/made_nodes.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace mete {
namespace {

using Indices = std::vector<int>;

bool Has(const Indices& indices, int i) {
  return std::find(indices.begin(), indices.end(), i) != indices.end();
}

// Returns those of `indices` for which `holds`, in their order.
Indices Those(const Indices& indices, const std::function<bool(int)>& holds) {
  Indices result;
  std::copy_if(indices.begin(), indices.end(), std::back_inserter(result), holds);
  return result;
}

Indices Joined(std::initializer_list<Indices> parts) {
  Indices all;
  for (const Indices& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// A value and the index that each of its dimensions runs along, each of them once.
struct Term {
  ValueId id;
  Indices indices;
};

class Writer {
 public:
  Writer(Graph& graph, NodeNames& names, const Node& node, const Einsum& einsum)
      : graph_(graph), names_(names), name_(node.name), einsum_(einsum) {}

  // Adds nodes that compute `output`.
  void Write(std::vector<Term> terms, ValueId output) {
    Indices wanted(size_t(einsum_.output_indices));
    for (size_t i = 0; i < wanted.size(); ++i) wanted[i] = int(i);
    for (Term& term : terms) term = WithoutBroadcast(std::move(term));
    Term sum = std::move(terms[0]);
    for (terms.erase(terms.begin()); !terms.empty();) {
      const Term next = TakeNext(terms, sum.indices);
      Indices needed = wanted;
      for (const Term& later : terms) needed = Joined({needed, later.indices});
      sum = Product(std::move(sum), next, needed);
    }
    sum = Summed(std::move(sum), wanted);
    // An ellipsis may stand for dimensions that no operand has.
    const Indices absent = Those(wanted, [&](int i) { return !Has(sum.indices, i); });
    Ordered(WithOnes(std::move(sum), absent, 0), wanted);
    graph_.nodes.back().outputs[0] = output;
  }

 private:
  // Removes and returns the first term that has one of these indices; if none has, the first term.
  static Term TakeNext(std::vector<Term>& terms, const Indices& indices) {
    auto next = std::find_if(terms.begin(), terms.end(), [&](const Term& term) {
      return std::any_of(term.indices.begin(), term.indices.end(), [&](int i) { return Has(indices, i); });
    });
    if (next == terms.end()) next = terms.begin();
    Term term = std::move(*next);
    terms.erase(next);
    return term;
  }

  int64_t Extent(const Indices& indices) const {
    int64_t extent = 1;
    for (const int i : indices) extent *= einsum_.extents[size_t(i)];
    return extent;
  }
  Shape ShapeOf(const Indices& indices) const {
    Shape shape;
    for (const int i : indices) shape.push_back(einsum_.extents[size_t(i)]);
    return shape;
  }
  std::string NextName() { return names_.Unique(name_ + ".step" + std::to_string(steps_++)); }
  Term Made(const char* op, std::initializer_list<ValueId> inputs, const Shape& shape, Indices indices,
            const Attributes* attributes = nullptr) {
    return {AddMade(graph_, op, NextName(), "", inputs, shape, attributes), std::move(indices)};
  }
  // Of an operator whose second input has axes.
  Term OnAxes(const char* op, const Term& term, const Ints& axes, const Shape& shape, Indices indices,
              const Attributes* attributes = nullptr) {
    const ValueId list = AddList(graph_, NextName(), ".axes", axes);
    return Made(op, {term.id, list}, shape, std::move(indices), attributes);
  }

  // Leaves out the dimensions of 1 along indices that are longer.
  Term WithoutBroadcast(Term term) {
    const Shape shape = graph_.value(term.id).shape;
    Ints axes;
    Indices kept;
    for (int d = 0; d < shape.rank(); ++d) {
      const int index = term.indices[size_t(d)];
      if (shape[d] == einsum_.extents[size_t(index)]) kept.push_back(index);
      else axes.push_back(d);
    }
    return axes.empty() ? term : OnAxes("Squeeze", term, axes, ShapeOf(kept), kept);
  }

  // Adds up along the indices that are not needed.
  Term Summed(Term term, const Indices& needed) {
    Ints axes;
    for (size_t d = 0; d < term.indices.size(); ++d)
      if (!Has(needed, term.indices[d])) axes.push_back(int64_t(d));
    if (axes.empty()) return term;
    Attributes attributes;
    attributes.Set("keepdims", int64_t(0));
    const Indices kept = Those(term.indices, [&](int i) { return Has(needed, i); });
    return OnAxes("ReduceSum", term, axes, ShapeOf(kept), kept, &attributes);
  }

  Term Ordered(Term term, const Indices& order) {
    Ints perm;
    for (const int i : order)
      perm.push_back(std::find(term.indices.begin(), term.indices.end(), i) - term.indices.begin());
    return {AddTranspose(graph_, NextName(), "", term.id, perm), order};
  }

  // Adds dimensions of 1 for the indices `absent`, which begin at dimension `at`.
  Term WithOnes(Term term, const Indices& absent, size_t at) {
    if (absent.empty()) return term;
    Ints axes;
    for (size_t i = 0; i < absent.size(); ++i) axes.push_back(int64_t(at + i));
    Shape shape;
    Indices indices = term.indices;
    indices.insert(indices.begin() + std::ptrdiff_t(at), absent.begin(), absent.end());
    for (const int i : indices) shape.push_back(Has(absent, i) ? 1 : einsum_.extents[size_t(i)]);
    return OnAxes("Unsqueeze", term, axes, shape, std::move(indices));
  }

  Term Product(Term a, Term b, const Indices& needed) {
    a = Summed(std::move(a), Joined({b.indices, needed}));
    b = Summed(std::move(b), Joined({a.indices, needed}));
    // Kernels of products have constants on the right.
    if (IsConstant(graph_, a.id) && !IsConstant(graph_, b.id)) std::swap(a, b);
    const Indices both = Those(a.indices, [&](int i) { return Has(b.indices, i); }),
                  batch = Those(both, [&](int i) { return Has(needed, i); }),
                  summed = Those(both, [&](int i) { return !Has(needed, i); }),
                  rows = Those(a.indices, [&](int i) { return !Has(both, i); }),
                  columns = Those(b.indices, [&](int i) { return !Has(both, i); });
    a = Ordered(std::move(a), Joined({batch, rows, summed}));
    b = Ordered(std::move(b), Joined({batch, summed, columns}));
    if (summed.empty()) {
      a = WithOnes(std::move(a), columns, batch.size() + rows.size());
      b = WithOnes(std::move(b), rows, batch.size());
      const Indices all = Joined({batch, rows, columns});
      return Made("Mul", {a.id, b.id}, ShapeOf(all), all);
    }
    return MatMul(a.id, b.id, {batch, rows, summed, columns});
  }

  struct Roles {
    Indices batch, rows, summed, columns;
  };

  // `a` has the order (batch, rows, summed), `b` (batch, summed, columns).
  Term MatMul(ValueId a, ValueId b, const Roles& r) {
    // Without a batch the rows are one, of as many dimensions as they have.
    const bool joins_rows = !r.batch.empty() || r.rows.empty();
    Shape shape_a = ShapeOf(r.batch), shape_b = shape_a, product = shape_a;
    if (joins_rows) {
      shape_a.push_back(Extent(r.rows));
      product.push_back(Extent(r.rows));
    } else {
      shape_a = product = ShapeOf(r.rows);
    }
    shape_a.push_back(Extent(r.summed));
    shape_b.push_back(Extent(r.summed));
    shape_b.push_back(Extent(r.columns));
    product.push_back(Extent(r.columns));
    const ValueId left = AsShape(a, shape_a), right = AsShape(b, shape_b);
    const Indices all = Joined({r.batch, r.rows, r.columns});
    const Term made = Made("MatMul", {left, right}, product, all);
    return {AsShape(made.id, ShapeOf(all)), all};
  }

  // A view with the same elements.
  ValueId AsShape(ValueId id, const Shape& shape) {
    return graph_.value(id).shape == shape ? id : AddReshape(graph_, NextName(), "", id, shape);
  }

  Graph& graph_;
  NodeNames& names_;
  const std::string name_;
  const Einsum& einsum_;
  int steps_ = 0;
};

bool HasDiagonal(const Indices& indices) {
  return std::any_of(indices.begin(), indices.end(),
                     [&](int i) { return std::count(indices.begin(), indices.end(), i) > 1; });
}

// Products and sums are those of f32; dimensions of any type are permuted. All intermediate values have few
// enough dimensions: those of a batch, and two of a matrix.
bool MayWrite(const Graph& graph, const Node& node, const Einsum& einsum) {
  const bool permutes = node.inputs.size() == 1 && int(einsum.extents.size()) == einsum.output_indices;
  if (!permutes && !IsF32(graph, node.outputs[0])) return false;
  if (!permutes && int(einsum.extents.size()) >= Shape::kMaxRank) return false;
  if (std::count(einsum.extents.begin(), einsum.extents.end(), 0) > 0) return false;
  return std::none_of(einsum.indices.begin(), einsum.indices.end(), HasDiagonal);
}

bool WriteEinsum(Graph& graph, NodeNames& names, const Node& node) {
  std::vector<Shape> shapes;
  for (const ValueId id : node.inputs) {
    if (!graph.value(id).shape.known()) return false;
    shapes.push_back(graph.value(id).shape);
  }
  const Einsum einsum(node.name, node.attributes.String("equation", ""), shapes);
  if (!MayWrite(graph, node, einsum)) return false;
  std::vector<Term> terms;
  for (size_t k = 0; k < node.inputs.size(); ++k) terms.push_back({node.inputs[k], einsum.indices[k]});
  Writer(graph, names, node, einsum).Write(std::move(terms), node.outputs[0]);
  return true;
}

}  // namespace

bool WriteEinsums(Graph& graph) {
  const auto is_einsum = [](const Node& node) { return node.op == "Einsum"; };
  if (std::none_of(graph.nodes.begin(), graph.nodes.end(), is_einsum)) return false;
  NodeNames names(graph);
  std::vector<Node> nodes;
  std::swap(nodes, graph.nodes);
  bool changed = false;
  for (Node& node : nodes) {
    if (is_einsum(node) && WriteEinsum(graph, names, node)) changed = true;
    else graph.nodes.push_back(std::move(node));
  }
  return changed;
}

}  // namespace mete

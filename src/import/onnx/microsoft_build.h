// Short forms of Upgrade::Emit for expansions of many nodes. Each node gets the name of the expanded node
// with its operator behind it.
#pragma once

#include <initializer_list>
#include <vector>

#include "import/onnx/upgrade.h"

namespace mete::onnx_import {

using Values = std::initializer_list<ValueId>;
using Numbers = std::initializer_list<int64_t>;

Attributes With(const char* name, Attribute value);

// Add a node with one output and return that output.
ValueId Op(Upgrade& u, const char* op, Values inputs);
ValueId Op(Upgrade& u, const char* op, Values inputs, const char* name, int64_t value);
ValueId CastTo(Upgrade& u, ValueId x, const char* type);
ValueId Reshaped(Upgrade& u, ValueId x, Numbers shape);  // as Reshape: 0 keeps a dimension, -1 is the rest
ValueId Permuted(Upgrade& u, ValueId x, Numbers perm);
ValueId Unsqueezed(Upgrade& u, ValueId x, Numbers axes);
ValueId Sliced(Upgrade& u, ValueId x, int64_t axis, int64_t begin, int64_t end);
// Adds a node whose output is `told`, or a new value if that is omitted. Inputs may be omitted, too.
ValueId Into(Upgrade& u, ValueId told, const char* op, Values inputs, Attributes attributes = {});

ValueId Constant(Upgrade& u, Numbers values);       // i64, rank 1
ValueId ScalarConstant(Upgrade& u, int64_t value);  // i64, rank 0
ValueId RealConstant(Upgrade& u, double value);     // f64, rank 0
// Returns dimensions of `x` as integers of rank 1: one, or all from `axis` to `end`.
ValueId DimOf(Upgrade& u, ValueId x, int64_t axis);
ValueId DimsOf(Upgrade& u, ValueId x, int64_t axis, int64_t end);
// Returns 0, 1, ..., count - 1 as i64; `count` has one element.
ValueId CountTo(Upgrade& u, ValueId count);
// Divides `x` into `count` parts, equal ones if `sizes` is omitted.
std::vector<ValueId> Parts(Upgrade& u, ValueId x, int64_t axis, int64_t count, ValueId sizes = kNoValue);

// Makes the expanded node itself another operator.
void Become(Upgrade& u, std::string op, std::vector<ValueId> inputs, Attributes attributes = {});

// Returns true if the node has no attributes but these; reports the others, whose meaning is unknown.
bool HasOnly(Upgrade& u, std::initializer_list<std::string_view> known);
// Returns true if each of the integer attributes has the given value or is omitted; reports the others.
bool NeedDefaults(Upgrade& u, std::initializer_list<std::pair<const char*, int64_t>> defaults);
// Returns an integer attribute that must be at least 1; reports others and returns 0.
int64_t Positive(Upgrade& u, const char* name);

// The number of dimensions of input `i` as far as it is known; -1.
int RankOf(Upgrade& u, ValueId id);
// Returns `x`. If its number of dimensions is not known yet, loading fails where it is not `rank`.
ValueId NeedRank(Upgrade& u, ValueId x, int rank);

}  // namespace mete::onnx_import

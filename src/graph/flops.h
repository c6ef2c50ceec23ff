// How much arithmetic a node is: for shares of peak and for planners.
#pragma once

#include <string_view>

#include "graph/graph.h"

namespace mete {

// Floating-point operations of a convolution, a matrix product, or the products of a recurrent operator over
// all its time steps, a multiply-add counted as 2; 0 for other operators and where a shape is unknown.
int64_t Flops(const Graph& graph, const Node& node);

// Bytes of its inputs and outputs; 0 where a shape is unknown.
int64_t BytesMoved(const Graph& graph, const Node& node);

// LSTM, GRU and RNN.
bool IsRecurrentOperator(std::string_view op);

}  // namespace mete

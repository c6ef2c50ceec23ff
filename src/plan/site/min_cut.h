// The cheapest division of a model's layers between a device and a server, if the price is a sum: of
// computing each layer on its side, and of sending each value that a layer of the server reads and the device
// has. A value with several readers on the server is sent once. Data go from the device to the server alone;
// answers that the server makes go back, and their price is a part of the server's for that layer.
//
// Source: DADS (Hu et al., INFOCOM 2019; systems.md, 4): the layers are the nodes of a network of flows, the
// device is its source and the server its sink, and each value with readers has a node of its own. The
// cheapest cut of this network is found by the algorithm of Boykov and Kolmogorov in Boost.Graph.
#pragma once

#include <optional>
#include <vector>

namespace mete {

// A value that one layer makes and others read.
struct SentValue {
  int producer = -1;         // a layer; -1: the device has the value at the beginning
  std::vector<int> readers;  // layers
  double price = 0;          // of sending it; infinite: it cannot be sent
};

struct CutPrices {
  // by layer, in an order in which each comes behind those whose values it reads; infinite: the side cannot
  // compute the layer
  std::vector<double> device, server;
  std::vector<SentValue> values;
};

using OnDevice = std::vector<bool>;  // by layer; false: on the server
bool HasBothSides(const OnDevice& on_device);
enum class Side { kServer, kDevice };

struct ForcedLayers {
  int device = -1, server = -1;  // a layer that is computed there whatever it costs; -1: none
};

// Returns the cheapest division; nothing: none has a finite price. Prices are compared to 13 digits of their
// sum.
std::optional<OnDevice> CheapestCut(const CutPrices& prices, const ForcedLayers& forced = {});

// Returns the price of a division: infinite if it is none, because a layer of the device reads what the
// server makes.
double PriceOf(const CutPrices& prices, const OnDevice& on_device);

}  // namespace mete

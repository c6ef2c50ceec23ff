#include "plan/site/min_cut.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/boykov_kolmogorov_max_flow.hpp>

namespace mete {
namespace {

// Flows are integers, so that the algorithm ends. All finite prices together are kAll, and a flow that
// reaches kNever needs an infinite one; 32768 of these are the largest flow of 64 bits.
constexpr int64_t kAll = int64_t(1) << 46, kNever = int64_t(1) << 48;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using OfVertex = boost::property<boost::vertex_color_t, boost::default_color_type,
                                 boost::property<boost::vertex_predecessor_t, Traits::edge_descriptor,
                                                 boost::property<boost::vertex_distance_t, int64_t>>>;
using OfEdge =
    boost::property<boost::edge_capacity_t, int64_t,
                    boost::property<boost::edge_residual_capacity_t, int64_t,
                                    boost::property<boost::edge_reverse_t, Traits::edge_descriptor>>>;
using Flows = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, OfVertex, OfEdge>;

double SumOfFinite(const CutPrices& prices) {
  double sum = 0;
  const auto add = [&](double price) { sum += std::isfinite(price) ? price : 0; };
  for (const double price : prices.device) add(price);
  for (const double price : prices.server) add(price);
  for (const SentValue& value : prices.values) add(value.price);
  return sum;
}

class Network {
 public:
  explicit Network(const CutPrices& prices)
      : layers_(prices.device.size()), flows_(layers_ + prices.values.size() + 2), scale_(ScaleOf(prices)) {
    for (size_t l = 0; l < layers_; ++l) {
      Connect(Source(), l, Capacity(prices.server[l]));  // is cut if the layer is on the server's side
      Connect(l, Sink(), Capacity(prices.device[l]));
    }
    for (size_t v = 0; v < prices.values.size(); ++v) AddValue(prices.values[v], layers_ + v);
  }

  void Force(const ForcedLayers& forced) {
    if (forced.device >= 0) Connect(Source(), size_t(forced.device), kNever);
    if (forced.server >= 0) Connect(size_t(forced.server), Sink(), kNever);
  }

  std::optional<OnDevice> Cut() {
    if (boost::boykov_kolmogorov_max_flow(flows_, Source(), Sink()) >= kNever) return std::nullopt;
    const auto color = boost::get(boost::vertex_color, flows_);
    const auto of_device = boost::get(color, Source());
    OnDevice on_device(layers_);
    for (size_t l = 0; l < layers_; ++l) on_device[l] = boost::get(color, l) == of_device;
    return on_device;
  }

 private:
  size_t Source() const { return boost::num_vertices(flows_) - 2; }
  size_t Sink() const { return boost::num_vertices(flows_) - 1; }

  static double ScaleOf(const CutPrices& prices) {
    const double sum = SumOfFinite(prices);
    return sum > 0 ? double(kAll) / sum : 1;
  }
  int64_t Capacity(double price) const {
    return std::isfinite(price) ? int64_t(std::llround(price * scale_)) : kNever;
  }

  void Connect(size_t from, size_t to, int64_t capacity, int64_t back = 0) {
    const auto there = boost::add_edge(from, to, flows_).first,
               reverse = boost::add_edge(to, from, flows_).first;
    boost::put(boost::edge_capacity, flows_, there, capacity);
    boost::put(boost::edge_capacity, flows_, reverse, back);
    boost::put(boost::edge_reverse, flows_, there, reverse);
    boost::put(boost::edge_reverse, flows_, reverse, there);
  }

  // The way from the producer to the value's own node is cut once, however many readers are on the server's
  // side.
  void AddValue(const SentValue& value, size_t node) {
    Connect(value.producer < 0 ? Source() : size_t(value.producer), node, Capacity(value.price));
    for (const int reader : value.readers) {
      Connect(node, size_t(reader), kNever);
      // the device reads nothing that the server makes
      if (value.producer >= 0) Connect(size_t(reader), size_t(value.producer), kNever);
    }
  }

  const size_t layers_;
  Flows flows_;
  const double scale_;
};

}  // namespace

std::optional<OnDevice> CheapestCut(const CutPrices& prices, const ForcedLayers& forced) {
  Network network(prices);
  network.Force(forced);
  return network.Cut();
}

bool HasBothSides(const OnDevice& on_device) {
  return std::adjacent_find(on_device.begin(), on_device.end(), std::not_equal_to<>()) != on_device.end();
}

double PriceOf(const CutPrices& prices, const OnDevice& on_device) {
  double price = 0;
  for (size_t l = 0; l < on_device.size(); ++l) price += on_device[l] ? prices.device[l] : prices.server[l];
  for (const SentValue& value : prices.values) {
    const bool here = value.producer < 0 || on_device[size_t(value.producer)];
    const auto reads = [&](bool device) {
      return std::any_of(value.readers.begin(), value.readers.end(),
                         [&](int r) { return on_device[size_t(r)] == device; });
    };
    if (!here && reads(true)) return kInfinite;
    if (here && reads(false)) price += value.price;
  }
  return price;
}

}  // namespace mete

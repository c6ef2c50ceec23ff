#include "import/caffe/parse.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <climits>

#include "base/error.h"
#include "base/problems.h"

namespace mete::caffe_import {
namespace {

namespace pb = google::protobuf;

constexpr int kMaxNesting = 64;  // real nets nest 5 deep
constexpr size_t kMaxShownProblems = 10;

// Collects the parser's errors and warnings; the parser reports unknown fields as warnings. An unknown
// parameter message of a layer is ignored, because the layer's type is then unknown too, or has no meaning
// here (data, loss). An unknown field within a known parameter message could change the numbers, so it is a
// problem, except in what says which files a run of Caffe writes.
class Collector : public pb::io::ErrorCollector {
 public:
  explicit Collector(const std::string& name) : name_(name) {}

  void AddError(int line, int column, const std::string& message) override { Add(line, column, message); }
  void AddWarning(int line, int column, const std::string& message) override {
    for (const char* harmless : {"\"mete.caffe.LayerParameter\"", "\"mete.caffe.V1LayerParameter\"",
                                 "\"mete.caffe.V0LayerParameter\"", "\"mete.caffe.NetParameter\"",
                                 "\"mete.caffe.SaveOutputParameter\""})
      if (message.find(harmless) != message.npos) return;
    Add(line, column, message);
  }
  const SharedProblems& problems() const { return problems_; }

 private:
  void Add(int line, int column, const std::string& message) {
    problems_.Add(fmt::format("{}:{}:{}", name_, line + 1, column + 1), Printable(message));
  }
  const std::string& name_;
  SharedProblems problems_{kMaxShownProblems};
};

void RefuseWebPage(std::string_view text, const std::string& name, const char* expected) {
  const size_t first = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (first != text.npos && text[first] == '<')
    Fail(Code::kDataLoss, name, "this is a web page; got '{}', expected {}; try to download the raw file",
         text.substr(first, std::min<size_t>(15, text.find('\n', first) - first)), expected);
}

bool Matches(const caffe::NetStateRule& rule, const caffe::NetState& state) {
  auto has = [&](const std::string& stage) {
    return std::find(state.stage().begin(), state.stage().end(), stage) != state.stage().end();
  };
  if (rule.has_phase() && rule.phase() != state.phase()) return false;
  if (rule.has_min_level() && state.level() < rule.min_level()) return false;
  if (rule.has_max_level() && state.level() > rule.max_level()) return false;
  return std::all_of(rule.stage().begin(), rule.stage().end(), has) &&
         std::none_of(rule.not_stage().begin(), rule.not_stage().end(), has);
}

bool Included(const caffe::LayerParameter& layer, const caffe::NetState& state) {
  auto matches = [&](const caffe::NetStateRule& rule) { return Matches(rule, state); };
  if (layer.include_size()) return std::any_of(layer.include().begin(), layer.include().end(), matches);
  return std::none_of(layer.exclude().begin(), layer.exclude().end(), matches);
}

}  // namespace

Net ParseNet(std::string_view text, const std::string& name) {
  RefuseWebPage(text, name, "a Caffe net in text form");
  if (text.find_first_not_of(" \t\r\n") == text.npos)
    Fail(Code::kDataLoss, name, "the file is empty; expected a Caffe net in text form");
  if (text.size() > INT_MAX)
    Fail(Code::kDataLoss, name, "the file is too long for a net in text form; got {} bytes", text.size());
  if (text.substr(0, 4096).find('\0') != text.npos)
    Fail(Code::kDataLoss, name,
         "this is no text; expected a Caffe net in text form; try the .prototxt that belongs to the "
         ".caffemodel");
  Net net;
  Collector collector(name);
  pb::TextFormat::Parser parser;
  parser.RecordErrorsTo(&collector);
  parser.AllowUnknownField(true);
  parser.SetRecursionLimit(kMaxNesting);
  pb::io::ArrayInputStream stream(text.data(), int(text.size()));
  const pb::LogSilencer quiet;  // names need not be UTF-8, and only the Error reports a bad file
  const bool parsed = parser.Parse(&stream, &net.header);
  if (!parsed) throw Error(Code::kDataLoss, collector.problems().Text());
  if (collector.problems().any()) throw Error(Code::kInvalidArgument, collector.problems().Text());
  if (net.header.layer_size() && net.header.layers_size())
    Invalid(name, "the net mixes 'layer' and 'layers'; got {} and {}, expected one of the two",
            net.header.layer_size(), net.header.layers_size());

  for (auto& layer : *net.header.mutable_layer()) net.layers.push_back(std::move(layer));
  for (const auto& layer : net.header.layers()) net.layers.push_back(Upgrade(layer));
  net.header.clear_layer();
  net.header.clear_layers();
  std::erase_if(net.layers, [&](const auto& layer) { return !Included(layer, net.header.state()); });
  return net;
}

Weights ParseWeights(std::span<const std::byte> bytes, const std::string& name) {
  Weights weights;
  if (bytes.empty()) return weights;
  RefuseWebPage({reinterpret_cast<const char*>(bytes.data()), std::min<size_t>(bytes.size(), 256)}, name,
                "a .caffemodel");
  auto message = std::make_shared<caffe::Weights>();
  if (bytes.size() > INT_MAX)
    Fail(Code::kDataLoss, name, "the file is too large; got {} bytes, expected less than 2 GiB",
         bytes.size());
  const pb::LogSilencer quiet;
  if (!message->ParseFromArray(bytes.data(), int(bytes.size())))
    Fail(Code::kDataLoss, name,
         "corrupt or truncated; got {} bytes that are not a whole message, expected a .caffemodel; try to "
         "download it again",
         bytes.size());
  for (const auto& layer : message->layer()) weights.layers[layer.name()] = &layer.blobs();
  for (const auto& layer : message->layers())
    if (layer.has_layer()) weights.layers[layer.layer().name()] = &layer.layer().blobs();
    else weights.layers[layer.name()] = &layer.blobs();
  if (weights.layers.empty())
    Fail(Code::kDataLoss, name,
         "this is no .caffemodel; got {} bytes that hold no layer, expected the weights of the network",
         bytes.size());
  weights.message = std::move(message);
  return weights;
}

}  // namespace mete::caffe_import

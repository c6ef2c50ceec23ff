#include "import/caffe/parse.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <climits>
#include <map>

#include "base/error.h"
#include "base/nearest.h"
#include "base/problems.h"

namespace mete::caffe_import {
namespace {

namespace pb = google::protobuf;

constexpr int kMaxNesting = 64;  // real nets nest 5 deep
constexpr size_t kMaxShownProblems = 10;

// The parser's warning about an unknown field, at the place behind its name: Message type "mete.caffe.X" has
// no field named "y".
struct UnknownField {
  const pb::Descriptor* type = nullptr;  // null: the warning is of another kind
  std::string name;
};

UnknownField ReadWarning(const std::string& message) {
  std::vector<std::string> quoted;
  for (size_t from = message.find('"'); from != message.npos && quoted.size() < 2;) {
    const size_t to = message.find('"', from + 1);
    if (to == message.npos) break;
    quoted.push_back(message.substr(from + 1, to - from - 1));
    from = message.find('"', to + 1);
  }
  if (quoted.size() < 2 || message.find("has no field named") == message.npos) return {};
  return {caffe::NetParameter::descriptor()->file()->pool()->FindMessageTypeByName(quoted[0]), quoted[1]};
}

std::vector<std::string> FieldsOf(const pb::Descriptor& type) {
  std::vector<std::string> names;
  for (int i = 0; i < type.field_count(); ++i) names.push_back(type.field(i)->name());
  return names;
}

// Collects the parser's errors and warnings; the parser reports unknown fields as warnings. An unknown
// parameter message of a layer is ignored, because the layer's type is then unknown too, or has no meaning
// here (data, loss). An unknown field within a known parameter message could change the numbers, so it is a
// problem, except in what says which files a run of Caffe writes.
class Collector : public pb::io::ErrorCollector {
 public:
  // The parser fills `net` meanwhile: its last layer is the one that is being read.
  Collector(const std::string& name, const caffe::NetParameter& net) : name_(name), net_(net) {}

  void AddError(int line, int column, const std::string& message) override {
    problems_.Add(Place(line, column), Printable(message));
  }
  void AddWarning(int line, int column, const std::string& message) override {
    const UnknownField field = ReadWarning(message);
    if (!field.type) return AddError(line, column, message);
    for (const pb::Descriptor* harmless :
         {caffe::LayerParameter::descriptor(), caffe::V1LayerParameter::descriptor(),
          caffe::V0LayerParameter::descriptor(), caffe::NetParameter::descriptor(),
          caffe::SaveOutputParameter::descriptor()})
      if (field.type == harmless) return;
    const std::string layer = field.type == caffe::NetState::descriptor() ? "" : LayerName();
    problems_.Add(Place(line, column) + (layer.empty() ? "" : ", layer " + layer), TextOf(field, message));
  }
  const SharedProblems& problems() const { return problems_; }

 private:
  std::string Place(int line, int column) const {
    return fmt::format("{}:{}:{}", name_, line + 1, column + 1);
  }
  // Names are compared for the first fields alone: no more problems are shown, and a file may have millions.
  std::string TextOf(const UnknownField& field, const std::string& message) {
    if (const auto at = texts_.find(message); at != texts_.end()) return at->second;
    if (texts_.size() >= kMaxShownProblems) return Printable(message);
    return texts_[message] =
               Printable(fmt::format("{} has an unknown field; got {}{}", field.type->name(), field.name,
                                     ExpectedOneOf(field.name, FieldsOf(*field.type))));
  }
  std::string LayerName() const {
    if (net_.layer_size()) return Printable(net_.layer(net_.layer_size() - 1).name());
    return net_.layers_size() ? Printable(net_.layers(net_.layers_size() - 1).name()) : "";
  }

  const std::string& name_;
  const caffe::NetParameter& net_;
  SharedProblems problems_{kMaxShownProblems};
  std::map<std::string, std::string> texts_;  // of warnings
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
  Collector collector(name, net.header);
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

// Pictures to the tensors that models expect, and outputs to what they say about a picture.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrays.h"
#include "binding.h"
#include "dicts.h"
#include "mete/answer.h"
#include "mete/engine.h"
#include "mete/image.h"

namespace mete::python {

namespace nb = nanobind;

namespace {

using Pixels = nb::ndarray<uint8_t, nb::numpy>;

nb::object PixelsOf(Image image) {
  auto* held = new Image(std::move(image));
  const nb::capsule owner(held, [](void* p) noexcept { delete static_cast<Image*>(p); });
  const size_t sizes[] = {size_t(held->height), size_t(held->width), size_t(Image::kChannels)};
  return nb::cast(Pixels(held->rgb.data(), 3, sizes, owner));
}

Image ImageOf(nb::handle pixels) {
  const Tensor tensor = TensorOf(pixels, "picture");
  const Shape& shape = tensor.shape();
  constexpr int64_t kLongest = 1 << 20;  // a side of more pixels than any decoder here returns
  if (tensor.type() != DType::kU8 || shape.rank() != 3 || shape[2] != Image::kChannels || shape[0] < 1 ||
      shape[1] < 1 || shape[0] > kLongest || shape[1] > kLongest)
    throw Error(Code::kInvalidArgument, std::string("[picture] is not one; got ") + Name(tensor.type()) +
                                            " " + ToString(shape) +
                                            ", expected u8 of height x width x 3 (RGB)");
  const int height = int(shape[0]), width = int(shape[1]);
  Image image(width, height);
  std::copy_n(tensor.as<uint8_t>(), image.rgb.size(), image.rgb.data());
  image.name = "picture";
  return image;
}

nb::object Load(nb::handle source, int64_t max_pixels) {
  DecodeOptions options;
  options.max_pixels = max_pixels;
  if (nb::isinstance<nb::bytes>(source)) {
    const auto bytes = nb::borrow<nb::bytes>(source);
    const std::span data(static_cast<const std::byte*>(bytes.data()), bytes.size());
    Image image;
    {
      nb::gil_scoped_release released;
      image = DecodeImage(data, "picture", options);
    }
    return PixelsOf(std::move(image));
  }
  const std::string path = PathOf(source);
  Image image;
  {
    nb::gil_scoped_release released;
    image = LoadImage(path, options);
  }
  return PixelsOf(std::move(image));
}

Preprocess ForPort(nb::handle model_path, const Port& port) {
  const PortScale scale = port.scale.value_or(PortScale());
  return PreprocessFor(PathOf(model_path), port.type, port.shape, scale.scale, int(scale.zero_point));
}

// By value: the settings may change while the pictures are scaled.
nb::object Input(nb::handle pictures, const Preprocess steps, const Port& port) {
  std::vector<Image> images;
  if (nb::isinstance<nb::list>(pictures) || nb::isinstance<nb::tuple>(pictures))
    for (nb::handle picture : pictures) images.push_back(ImageOf(picture));
  else images.push_back(ImageOf(pictures));
  Tensor tensor;
  {
    nb::gil_scoped_release released;
    tensor = MakeInput(images, steps, port.shape);
  }
  return ArrayOf(tensor);
}

nb::list BoxesOf(const PictureAnswer& answer) {
  nb::list boxes;
  for (const PictureBox& box : answer.boxes) {
    boxes.append(DictOf({{"box", nb::cast(nb::make_tuple(box.x0, box.y0, box.x1, box.y1))},
                         {"score", nb::cast(box.score)},
                         {"label", nb::cast(box.label)}}));
  }
  return boxes;
}

nb::list PointsOf(const PictureAnswer& answer) {
  nb::list points;
  for (const PicturePoint& point : answer.points) {
    points.append(DictOf({{"point", nb::cast(nb::make_tuple(point.x, point.y))},
                          {"score", nb::cast(point.score)},
                          {"label", nb::cast(point.label)},
                          {"seen", nb::cast(point.seen)}}));
  }
  return points;
}

nb::object MaskOf(const PictureAnswer& answer) {
  if (answer.mask.label.empty()) return nb::none();
  Tensor mask(DType::kI16, {answer.mask.height, answer.mask.width});
  std::ranges::copy(answer.mask.label, mask.mutable_view().as<int16_t>());
  return ArrayOf(mask);
}

PictureAnswer Decode(const Model& model, nb::handle outputs, nb::handle picture, const Preprocess& steps) {
  std::vector<Tensor> tensors;
  for (nb::handle output : outputs) tensors.push_back(TensorOf(output, "outputs"));
  if (tensors.size() != model.outputs().size())
    throw Error(Code::kInvalidArgument, "[outputs] are not those of the model; got " +
                                            std::to_string(tensors.size()) + " arrays, expected " +
                                            std::to_string(model.outputs().size()));
  if (model.inputs().empty())
    throw Error(Code::kInvalidArgument,
                "[" + model.name() + "] takes no picture; got a model without inputs, expected one");
  std::vector<Tensor> numbers = NumbersOf(model.outputs(), tensors);
  std::vector<HeadOutput> named;
  for (size_t i = 0; i < numbers.size(); ++i) named.push_back({model.outputs()[i].name, numbers[i].view()});
  return DecodeAnswer(named, ImageOf(picture), steps, model.inputs()[0].shape);
}

nb::bytes Png(nb::handle picture) {
  const std::string png = PngOf(ImageOf(picture));
  return nb::bytes(png.data(), png.size());
}

}  // namespace

void BindPictures(nb::module_& module) {
  nb::class_<Preprocess>(module, "Preprocess", "How a picture becomes the input of a model.")
      .def(nb::init<>())
      .def_static(
          "for_model", ForPort, nb::arg("model_path"), nb::arg("port"),
          "Return the settings for an input: its type and layout follow from the port, the rest is in the\n"
          ".toml file beside the model. Without this file pixels stay 0 to 255.")
      .def_static(
          "from_toml",
          [](const std::string& toml, const Preprocess* defaults) {
            return ParsePreprocess(toml, "preprocess", defaults ? *defaults : Preprocess());
          },
          nb::arg("toml"), nb::arg("defaults") = nb::none(),
          "Read settings from the text of a .toml file; fields without a key keep their values in "
          "`defaults`.")
      .def(
          "set",
          [](Preprocess& steps, const std::string& key, const std::string& value) {
            SetPreprocess(steps, key, value, "preprocess");
          },
          nb::arg("key"), nb::arg("value"),
          "Set one field by its key in the .toml file: set(\"preprocess\", \"imagenet\"), set(\"head\", "
          "\"yolox\").")
      .def_ro("labels", &Preprocess::labels, "the path of a file with a class on each line; \"\": none")
      .def_ro("top_k", &Preprocess::top_k)
      .def_ro("softmax", &Preprocess::softmax)
      .def_ro("values_known", &Preprocess::values_known,
              "False: neither mean and scale nor a recipe is set, and pixels stay 0 to 255");
  nb::class_<PictureAnswer>(module, "PictureAnswer", "What the outputs of a network say about a picture.")
      .def_prop_ro("kind", [](const PictureAnswer& answer) { return Name(answer.kind); })
      .def_prop_ro(
          "boxes", BoxesOf,
          "a list of dicts, the best first: box (x0, y0, x1, y1 in pixels of the picture), score, label")
      .def_prop_ro("points", PointsOf,
                   "a list of dicts: point (x, y in pixels of the picture), score, label, seen")
      .def_prop_ro("mask", MaskOf, "an array of the class of each pixel, height x width, or None")
      .def_prop_ro(
          "picture",
          [](const PictureAnswer& answer) {
            return answer.picture.rgb.empty() ? nb::object(nb::none()) : PixelsOf(answer.picture);
          },
          "of networks whose output is a picture: an array of height x width x 3; of others None");
  module.def("load_image", Load, nb::arg("source"), nb::kw_only(), nb::arg("max_pixels") = kMaxImagePixels,
             "Decode a picture (JPEG, PNG, BMP, PPM), given by its path or its bytes.\n\n"
             "Returns an array of uint8, height x width x 3, RGB, upright by its EXIF orientation.");
  module.def("make_input", Input, nb::arg("pictures"), nb::arg("preprocess"), nb::arg("port"),
             "Return the array that an input (a Port) takes for a picture, or for a list of them.");
  module.def("decode_answer", Decode, nb::arg("model"), nb::arg("outputs"), nb::arg("picture"),
             nb::arg("preprocess"),
             "Return what all outputs of a model say about a picture, by the head in its .toml.");
  module.def(
      "draw_answer",
      [](nb::handle picture, const PictureAnswer& answer, const std::vector<std::string>& labels) {
        return PixelsOf(DrawAnswer(ImageOf(picture), answer, labels));
      },
      nb::arg("picture"), nb::arg("answer"), nb::arg("labels") = std::vector<std::string>(),
      "Return the picture with the boxes, points or mask of an answer.");
  module.def("png", Png, nb::arg("picture"), "Return the bytes of a PNG file of a picture.");
}

}  // namespace mete::python

// A version of a model that is loaded: its sessions, and what its callers may send.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ranking.h"
#include "mete/engine.h"
#include "mete/image.h"
#include "mete/pool.h"
#include "serve/metrics/metrics.h"
#include "serve/protocol/inference.h"
#include "serve/queue/scheduler.h"
#include "serve/repository/settings.h"
#include "serve/server/load_turn.h"

namespace mete::serve {

struct SlotCores {
  SessionOptions session;  // of a session on all cores; `cores` empty: threads are not pinned
  int slots = 1;
  // Makes the session for wide runs, of which there is one at a time, with all cores free; empty: one on all
  // cores with `session`. With one slot it is the only session.
  std::function<Session(const Model&)> wide = {};
  std::vector<std::string> wide_processors = {};  // of the pool of such a session, the home first
  // How long a run has kept each of these busy, and 0 for each when the session is made. Called by the thread
  // of the run.
  std::function<void(const std::string& processor, double busy_s)> count_processor = {};
};

// Returns the options of the session that slot `i` computes narrow requests with: one core, that of the slot
// where cores are given.
SessionOptions NarrowOptions(const SlotCores& cores, int i);

// Returns whether each output has `rows` rows, so that the answers of a batch can be divided.
bool HaveRows(const std::vector<Tensor>& outputs, int64_t rows);

class ServedModel {
 public:
  // Loads the file and makes a session for each slot and, if there are several slots, one for all cores. What
  // more than the calling thread computes of this, it computes in turns with what the slots compute, but for
  // SlotCores::wide. Error as Model::Load(), or as LoadTurn. `precision` is LoadOptions::precision.
  ServedModel(const std::string& path, const std::string& precision, const SlotCores& cores, Slots& slots);

  const Model& model() const { return model_; }
  const std::vector<Port>& inputs() const { return model_.inputs(); }
  const std::vector<Port>& outputs() const { return model_.outputs(); }
  // Whether the model's only input takes pictures, and its preprocessing is known. `why_no_pictures` says why
  // not.
  bool takes_pictures() const { return why_no_pictures_.empty(); }
  const std::string& why_no_pictures() const { return why_no_pictures_; }
  // Why no picture can be classified; "" if it can.
  std::string why_no_classes() const {
    return !takes_pictures()        ? why_no_pictures_
           : pictures_at_once() > 1 ? "the model takes several pictures at a time"
           : classified_ < 0        ? "no output has the scores of classes, or several have"
                                    : "";
  }
  const std::vector<std::string>& labels() const { return labels_; }
  const Preprocess& preprocess() const { return preprocess_; }
  const std::vector<std::string>& notes() const { return notes_; }

  // The index of the output that has the scores of classes; -1: none.
  int classified() const { return classified_; }
  bool softmax() const { return preprocess_.softmax; }
  int top_k() const { return preprocess_.top_k; }

  // Returns the request's tensors in the order of the model's inputs. Throws one Error with all that does not
  // fit: names, types, shapes. An input of pictures whose type is BYTES is left empty: Pictures() makes it.
  std::vector<Tensor> InputsOf(const InferRequest& request) const;
  // Returns the index of each output that the request names; all, if it names none. Error for an unknown one.
  std::vector<size_t> OutputsOf(const InferRequest& request) const;

  // Error if a request has another number of pictures than the model takes, or so many that their input would
  // exceed `input_bytes`.
  void CheckPictures(size_t count, int64_t input_bytes) const;
  // Decodes pictures for an input of pictures, of at most `most_pixels` together, and makes them as small as
  // the input wants them: answers are those of `mete run`, bit for bit.
  std::vector<Image> Decode(const std::vector<std::string>& pictures, int64_t most_pixels) const;
  Tensor Scale(const std::vector<Image>& images) const;

  // Returns the plan in use if wide runs are on a pool, and its fate since it was loaded.
  std::optional<PlanFigures> plan() const;

  // Computes on a slot's cores, or on all. One thread at a time for each slot, and for wide runs.
  std::vector<Tensor> Run(int slot, bool wide, const std::vector<Tensor>& inputs);

  // Whether the file leaves the first dimension of all inputs open, so that a run may have several rows.
  bool has_open_batch() const { return open_batch_; }
  // Whether the outputs then have these rows, as WarmUp() has seen.
  bool has_open_outputs() const { return open_outputs_; }

  // Runs each session, so that the first request waits for nothing, then measures wide and narrow runs and,
  // if the settings leave it open, which batches pay. Returns the times. Each run is one in its slot's turn,
  // or in that of all slots. Error as LoadTurn.
  ModelTimes WarmUp(const ModelSettings& settings, Slots& slots);

 private:
  Shape ShapeFor(size_t pictures) const;  // of the input, with as many rows
  // Of a model whose input has a fixed number of rows: this number.
  int64_t pictures_at_once() const {
    const Shape& shape = inputs()[0].shape;
    return open_batch_ || shape.rank() == 0 ? 1 : std::max<int64_t>(shape[0], 1);
  }
  bool OutputsHave(int64_t rows);
  int MostInBatch(Nanoseconds narrow, LoadTurn& turn);
  std::vector<Tensor> MadeUp(int64_t rows) const;
  Nanoseconds TimeOf(int slot, bool wide, const std::vector<Tensor>& inputs, LoadTurn& turn);
  void ReadPictureSettings(const std::string& path);
  void CountProcessors(const RunReport& report) const;
  Session& WideSession() const { return wide_ ? *wide_ : *narrow_.at(0); }

  const Model model_;
  std::vector<std::unique_ptr<Session>> narrow_;
  std::unique_ptr<Session> wide_;  // null: one slot has all cores
  std::string home_;  // of the pool that wide runs are computed on; "": they are on the CPU alone
  const std::function<void(const std::string& processor, double busy_s)> count_processor_;
  std::string why_no_pictures_;
  Preprocess preprocess_;
  std::vector<std::string> labels_;
  std::vector<std::string> notes_;
  int classified_ = -1;
  bool open_batch_ = false, open_outputs_ = false;
};

}  // namespace mete::serve

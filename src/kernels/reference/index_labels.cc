// The kernel of mete.LabelEncoder: the value of the last key that an element equals, by a binary search.
#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/reference/index_kernels.h"
#include "kernels/reference/indexing.h"

namespace mete {
namespace {

// The places of the keys, counted from 1; 0 stands for no key. A NaN equals a NaN.
template <class T>
class Places {
 public:
  template <class From>
  Places(const From* keys, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      const T key = T(keys[i]);
      if (key != key) no_number_ = i + 1;
      else keys_.push_back({key, i + 1});
    }
    std::sort(keys_.begin(), keys_.end());
  }

  int64_t Of(T x) const {
    if (x != x) return no_number_;
    const auto behind = std::upper_bound(keys_.begin(), keys_.end(), std::pair(x, INT64_MAX));
    return behind == keys_.begin() || std::prev(behind)->first != x ? 0 : std::prev(behind)->second;
  }

 private:
  std::vector<std::pair<T, int64_t>> keys_;  // ordered; of equal ones the last place comes last
  int64_t no_number_ = 0;
};

}  // namespace

void RunLabelEncoder(RefArgs& args) {
  const ConstView &x = args.in[0], &keys = args.in[1], &values = args.in[2];
  const size_t bytes = SizeOf(values.type);
  VisitNumeric(x.type, [&]<class T>() {
    using Key = std::conditional_t<std::is_integral_v<T>, T, double>;
    const Places<Key> places(keys.as<T>(), keys.elements());
    for (int64_t i = 0, n = x.elements(); i < n; ++i)
      CopyBytes(args.out[0].as<std::byte>() + size_t(i) * bytes,
                values.as<std::byte>() + size_t(places.Of(Key(x.as<T>()[i]))) * bytes, bytes);
  });
}

}  // namespace mete

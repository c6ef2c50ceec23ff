// The products of a tile by instructions of NEON that multiply blocks: two rows x an octet with an octet x
// two columns, added to 2 x 2 sums. An octet is eight neighbouring bytes of a tap, of eight elements of 8
// bits or four of 16. Packed weights have an octet for each column, so that a vector has those of two
// columns.
//
// As in quads-inl.h, the instructions are volatile assembly in the order of this code.
#if defined(METE_OCTETS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef METE_OCTETS_INL_H
#undef METE_OCTETS_INL_H
#else
#define METE_OCTETS_INL_H
#endif

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "kernels/fast/tile/quads-inl.h"
#include "kernels/fast/vector-inl.h"

#if HWY_TARGET == HWY_NEON
HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

constexpr size_t kOctet = 8;

// The largest tiles, by vectors, that leave registers for two octets of each row and two vectors of weights.
// Rows are multiplied in pairs.
constexpr int kMostRowsByOctets[] = {0, 8, 8, 6, 6};

// The sums of a tile of MR rows x V vectors of columns. An odd last row is its own neighbour. Block has the
// instruction, Block::Add(sums, inputs, weights).
template <class Block, int MR, int V>
class TileByOctets {
 public:
  HWY_INLINE TileByOctets() {
    ForEach<kPairs>([&](auto p) METE_IN_PLACE {
      ForEach<kBlocks>([&](auto b) METE_IN_PLACE { sums_[p][b] = vdupq_n_s32(0); });
    });
  }

  // Adds the products of `bytes` bytes of each row. Moves `w` behind their weights.
  HWY_INLINE void Add(const uint8_t* (&a)[MR], size_t bytes, const uint8_t*& w) {
    size_t at = 0;
    for (; at + 2 * kOctet <= bytes; at += 2 * kOctet) Multiply<2>(a, at, w);
    uint8_t ends[MR][kOctet];
    for (; at < bytes; at += kOctet) {
      const size_t rest = bytes - at;
      if (rest < kOctet) {  // the last octet is a copy, as it may end behind the input
        std::memset(ends, 0, sizeof(ends));
        for (int i = 0; i < MR; ++i) {
          std::memcpy(ends[i], a[i] + at, rest);
          a[i] = ends[i];
        }
        bytes = at = 0;
      }
      Multiply<1>(a, at, w);
    }
  }

  // Writes the sums of each row, as vectors of the columns.
  template <class Sum>
  HWY_INLINE void Total(Sum (&totals)[MR][V]) const {
    ForEach<MR>([&](auto i) METE_IN_PLACE {
      ForEach<V>([&](auto j) METE_IN_PLACE {
        const int64x2_t left = vreinterpretq_s64_s32(sums_[i / 2][2 * j]),
                        right = vreinterpretq_s64_s32(sums_[i / 2][2 * j + 1]);
        totals[i][j] = Sum(std::bit_cast<decltype(totals[i][j].raw)>(i % 2 ? vzip2q_s64(left, right)
                                                                           : vzip1q_s64(left, right)));
      });
    });
  }

 private:
  using Vector = int32x4_t;                    // of any type
  static constexpr int kPairs = (MR + 1) / 2;  // of rows
  static constexpr int kBlocks = 2 * V;        // pairs of columns

  // Adds the products of kOctets octets, one or two, from byte `at` of each row on.
  template <int kOctets>
  HWY_INLINE void Multiply(const uint8_t* const (&a)[MR], size_t at, const uint8_t*& w) {
    constexpr int kSteps = kOctets * kBlocks;
    Vector inputs[kOctets][kPairs], weights[2];
    LoadInOrder(weights[0], w);
    ForEach<kPairs>([&](auto p) METE_IN_PLACE {
      constexpr int kSecond = std::min(2 * p + 1, MR - 1);
      Vector second;
      if constexpr (kOctets == 1) {
        LoadOctet(inputs[0][p], a[2 * p] + at);
        LoadOctet(second, a[kSecond] + at);
      } else {
        LoadInOrder(inputs[0][p], a[2 * p], at);
        LoadInOrder(second, a[kSecond], at);
        asm volatile("zip2 %0.2d, %1.2d, %2.2d" : "=w"(inputs[1][p]) : "w"(inputs[0][p]), "w"(second));
      }
      asm volatile("zip1 %0.2d, %0.2d, %1.2d" : "+w"(inputs[0][p]) : "w"(second));
    });
    ForEach<kSteps>([&](auto step) METE_IN_PLACE {
      if constexpr (step + 1 < kSteps) LoadInOrder(weights[(step + 1) % 2], w + (step + 1) * sizeof(Vector));
      ForEach<kPairs>([&](auto p) METE_IN_PLACE {
        Block::Add(sums_[p][step % kBlocks], inputs[step / kBlocks][p], weights[step % 2]);
      });
    });
    w += kSteps * sizeof(Vector);
  }

  static HWY_INLINE void LoadOctet(Vector& to, const uint8_t* from) {
    asm volatile("ldr %d0, %1" : "=w"(to) : "m"(*reinterpret_cast<const uint8_t(*)[kOctet]>(from)));
  }

  Vector sums_[kPairs][kBlocks];  // each: two rows of two columns
};

// Sums the products of a strip's rows from `row` on.
template <class Block, int MR, int V, class Strip, class Sum>
HWY_INLINE void SumByOctets(const Strip& s, size_t row, Sum (&totals)[MR][V]) {
  TileByOctets<Block, MR, V> tile;
  const uint8_t* w = reinterpret_cast<const uint8_t*>(s.panel);
  for (size_t tap = 0; tap < s.taps; ++tap) {
    const uint8_t* a[MR];
    ForEach<MR>([&](auto i) METE_IN_PLACE {
      a[i] = reinterpret_cast<const uint8_t*>(s.rows[tap * s.tap_stride + row + i] + s.offset);
    });
    tile.Add(a, s.k * sizeof(**s.rows), w);
  }
  tile.Total(totals);
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();
#endif
#endif

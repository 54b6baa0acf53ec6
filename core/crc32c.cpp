#include "crc32c.hpp"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#if defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif
#endif

// How it works. A CRC is the remainder of a polynomial over the bits 0 and 1, divided by a fixed
// one. CRC-32C is "reflected": the lowest bit of the first byte is the highest power of x, so in a
// 32-bit register bit i stands for x^(31-i), and in a 64-bit word for x^(63-i). Taking a 64-bit
// word w into the register s makes it
//
//     (s * x^64 + w * x^32) mod P,
//
// and since that is linear, any part of the input can be worked on by itself, starting from 0, and
// moved to its place afterwards by multiplying with a power of x. That is what lets the fast paths
// run several chains side by side. Also, zeros in front of the input leave a register of 0 at 0,
// which lets an input whose size is not a whole number of words be padded at its front for free.
//
// Functions named extend* here take and return the CRC's register ("state"); the finished CRC is
// its complement, so only the entry points that Crc32cImplementation names invert it.

namespace tfreel {
namespace {

// ---- Polynomials mod P, and the constants made of them ------------------------------------------

// P = x^32 + x^28 + x^27 + ... + x^6 + 1 without its x^32, as a 32-bit register holds it.
constexpr std::uint32_t kPolynomial = 0x82f63b78;
constexpr std::uint32_t kOne = 0x80000000;

constexpr std::uint32_t times_x(std::uint32_t p) noexcept {
  return (p >> 1) ^ ((p & 1) != 0 ? kPolynomial : 0);
}

// The inverse of times_x: P has a constant term, so the top bit tells whether it was added.
constexpr std::uint32_t divided_by_x(std::uint32_t p) noexcept {
  return (p & kOne) != 0 ? ((p ^ kPolynomial) << 1) | 1 : p << 1;
}

// Multipliers that move a part of the input past the words that follow it.
//
// A carry-less product of two registers, read as a 64-bit word, is the product of their polynomials
// times x (the bits of a product count from x^62, those of a word from x^63); a word that enters
// the CRC is multiplied by x^32. So a register r that n words follow has to be multiplied by
// x^(64n - 33) for the product, entering as a word, to amount to r * x^64n. By the same count a
// word's product with that multiplier, read as a 128-bit pair of words, is the word times x^64n
// (the multiplier in the low half of a word carries the x^32).
//
// The multiplier for n words is stored n words before the end, so that a vector of them lines up
// with a vector of the input.
constexpr std::size_t kMaxShift = 271;
constexpr auto kShifts = [] {
  std::array<std::uint64_t, kMaxShift + 1> shifts{};
  std::uint32_t power = kOne;
  for (int i = 0; i < 33; ++i) power = divided_by_x(power);
  for (std::size_t n = 0; n <= kMaxShift; ++n) {
    shifts[kMaxShift - n] = power;
    for (int i = 0; i < 64; ++i) power = times_x(power);
  }
  return shifts;
}();

constexpr const std::uint64_t* shift_by_words(std::size_t n) noexcept {
  return &kShifts[kMaxShift - n];
}

// ---- Loads --------------------------------------------------------------------------------------

template <class T>
T load(const std::byte* data) noexcept {
  T value;
  std::memcpy(&value, data, sizeof value);
  return value;
}

// The `size` < 8 bytes at `data` as the low bytes of a word, by loads that overlap and so need no
// loop. The bytes above are unspecified.
std::uint64_t load_short(const std::byte* data, std::size_t size) noexcept {
  if (size >= 4) {
    const std::uint64_t high = load<std::uint32_t>(data + size - 4);
    return load<std::uint32_t>(data) | high << 8 * (size - 4);
  }
  if (size == 0) return 0;
  const auto at = [&](std::size_t i) { return std::to_integer<std::uint32_t>(data[i]) << 8 * i; };
  return at(0) | at(size / 2) | at(size - 1);
}

// ---- Portable software --------------------------------------------------------------------------

// kByteTables[n][b] is the register after byte b and n zero bytes, starting from 0: with eight of
// them the bytes of a word are looked up independently of each other ("slicing").
constexpr auto kByteTables = [] {
  std::array<std::array<std::uint32_t, 256>, 8> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t state = byte;
    for (auto& table : tables) {
      for (int i = 0; i < 8; ++i) state = times_x(state);
      table[byte] = state;
    }
  }
  return tables;
}();

std::uint32_t software(std::uint32_t crc, const std::byte* data, std::size_t size) noexcept {
  std::uint32_t state = ~crc;
  for (; size >= 8; data += 8, size -= 8) {
    const std::uint64_t word = load<std::uint64_t>(data) ^ state;
    state = 0;
    for (unsigned i = 0; i < 8; ++i) state ^= kByteTables[7 - i][word >> 8 * i & 0xff];
  }
  for (; size > 0; ++data, --size) {
    state = state >> 8 ^ kByteTables[0][(state ^ std::to_integer<std::uint32_t>(*data)) & 0xff];
  }
  return ~state;
}

// ---- CRC instructions of x86-64 and ARMv8, three chains at a time -------------------------------

#if defined(__x86_64__) || defined(__aarch64__)

using crc32c_detail::extend_by_instruction;

// The register after the first `size` < 8 bytes of `word`: they are moved to the word's end, where
// zeros lead them. A register longer than they are sticks out beyond them.
std::uint64_t extend_partial(std::uint64_t state, std::uint64_t word, std::size_t size) noexcept {
  // Two shifts, because one of 64 bits (for no bytes) is not defined.
  const std::uint64_t padded = (word ^ state) << 8 * (7 - size) << 8;
  return extend_by_instruction(0, padded) ^ state >> 8 * size;
}

// The instruction takes 3 cycles but one can start in each, so three chains run in the time of one:
// two lanes of `lane` words and a third of `last` > `lane`. The third is a bit longer (by kLead or
// more) to be busy while the first two are multiplied to their place; they then join its last word.
constexpr std::size_t kLead = 4;

template <class Multiply>
std::uint64_t extend_lanes(std::uint64_t state, const std::byte* data, std::size_t lane,
                           std::size_t last, Multiply multiply) noexcept {
  const std::byte* const second_lane = data + 8 * lane;
  const std::byte* const third_lane = second_lane + 8 * lane;
  std::uint64_t second = 0;
  std::uint64_t third = 0;
  std::size_t at = 0;
  for (; at < 8 * lane; at += 8) {
    state = extend_by_instruction(state, load<std::uint64_t>(data + at));
    second = extend_by_instruction(second, load<std::uint64_t>(second_lane + at));
    third = extend_by_instruction(third, load<std::uint64_t>(third_lane + at));
  }
  const std::uint64_t joined = multiply(state, *shift_by_words(lane + last)) ^
                               multiply(second, *shift_by_words(last));
  for (; at < 8 * (last - 1); at += 8) {
    third = extend_by_instruction(third, load<std::uint64_t>(third_lane + at));
  }
  return extend_by_instruction(third, load<std::uint64_t>(third_lane + at) ^ joined);
}

// `multiply` is the carry-less product of two 32-bit values; `split_from` is the number of words
// from which its cost is repaid.
template <class Multiply>
std::uint64_t extend_by_lanes(std::uint64_t state, const std::byte* data, std::size_t size,
                              std::size_t split_from, Multiply multiply) noexcept {
  if (size < 8) return extend_partial(state, load_short(data, size), size);
  state = extend_partial(state, load<std::uint64_t>(data), size % 8);
  data += size % 8;

  constexpr std::size_t kLane = 128;
  constexpr std::size_t kBlock = 3 * kLane + kLead;
  static_assert(2 * kLane + kLead + 2 <= kMaxShift);
  std::size_t words = size / 8;
  for (; words >= kBlock; words -= kBlock, data += 8 * kBlock) {
    state = extend_lanes(state, data, kLane, kLane + kLead, multiply);
  }
  if (words >= split_from) {
    const std::size_t lane = (words - kLead) / 3;
    return extend_lanes(state, data, lane, words - 2 * lane, multiply);
  }
  for (; words > 0; --words, data += 8) {
    state = extend_by_instruction(state, load<std::uint64_t>(data));
  }
  return state;
}

#endif

// ---- x86-64 -------------------------------------------------------------------------------------

#if defined(__x86_64__)

// Inline assembly for the same reason as extend_by_instruction's.
std::uint64_t multiply_by_pclmul(std::uint64_t a, std::uint64_t b) noexcept {
  __m128i product = _mm_cvtsi64_si128(static_cast<long long>(a));
  asm("pclmulqdq $0, %1, %0" : "+x"(product) : "x"(_mm_cvtsi64_si128(static_cast<long long>(b))));
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(product));
}

std::uint32_t sse42_pclmul(std::uint32_t crc, const std::byte* data, std::size_t size) noexcept {
  constexpr auto multiply = [](std::uint64_t a, std::uint64_t b) noexcept {
    return multiply_by_pclmul(a, b);
  };
  return ~static_cast<std::uint32_t>(extend_by_lanes(~crc, data, size, 12, multiply));
}

// With AVX-512 every word is multiplied to its place directly, eight words at a time, and only the
// sum of the products, two words, goes through the CRC instruction. The products do not depend on
// each other, so this is as fast on a short input as on a long one but for the multipliers' table.
// Long inputs are therefore folded first: eight vectors in registers are moved past the next eight
// and added to them, until what is left fits the table.
constexpr std::size_t kVector = 64;
constexpr std::size_t kFold = 8;

// The products of the eight words in `vector` with their multipliers at `shifts`.
[[gnu::target("avx512f,vpclmulqdq"), gnu::always_inline]] inline __m512i add_products(
    __m512i sum, __m512i vector, __m512i shifts) noexcept {
  const __m512i even = _mm512_clmulepi64_epi128(vector, shifts, 0x00);
  const __m512i odd = _mm512_clmulepi64_epi128(vector, shifts, 0x11);
  return _mm512_ternarylogic_epi64(sum, even, odd, 0x96);  // the exclusive or of all three
}

// `vector` moved to where `after` more vectors follow it, reduced to 128 bits in each lane, and
// added to `sum`.
[[gnu::target("avx512f,vpclmulqdq"), gnu::always_inline]] inline __m512i add_placed(
    __m512i sum, __m512i vector, std::size_t after) noexcept {
  return add_products(sum, vector, _mm512_loadu_si512(shift_by_words(8 * after + 7)));
}

// The register for the sum of all lanes of `sum`, each a pair of words at the input's end.
[[gnu::target("avx512f,sse4.2"), gnu::always_inline]] inline std::uint32_t extend_by_sum(
    __m512i sum) noexcept {
  const __m256i half = _mm256_xor_si256(_mm512_maskz_extracti64x4_epi64(0xff, sum, 0), _mm512_maskz_extracti64x4_epi64(0xff, sum, 1));
  const __m128i pair = _mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
  const std::uint64_t state = extend_by_instruction(0, static_cast<std::uint64_t>(_mm_cvtsi128_si64(pair)));
  return static_cast<std::uint32_t>(extend_by_instruction(state, static_cast<std::uint64_t>(_mm_extract_epi64(pair, 1))));
}

// A whole number of vectors, at least 1, from the input whose first `lead` bytes (1 to 64) are moved to the end of
// the first, zeros in front of them.
[[gnu::target("avx512f,avx512vbmi"), gnu::always_inline]] inline __m512i pad_front(
    __m512i vector, std::size_t pad) noexcept {
  alignas(kVector) static constexpr auto kPlaces = [] {
    std::array<std::uint8_t, 2 * kVector> places{};
    for (std::size_t i = 0; i < kVector; ++i) places[kVector + i] = static_cast<std::uint8_t>(i);
    return places;
  }();
  return _mm512_maskz_permutexvar_epi8(~std::uint64_t{0} << pad,
                                       _mm512_loadu_si512(&kPlaces[kVector - pad]), vector);
}

[[gnu::target("avx512f"), gnu::always_inline]] inline __m512i leading_word(
    std::uint64_t word) noexcept {
  return _mm512_zextsi128_si512(_mm_cvtsi64_si128(static_cast<long long>(word)));
}

[[gnu::target("avx512f,avx512vbmi,vpclmulqdq")]]
std::uint32_t avx512_vpclmul(std::uint32_t crc, const std::byte* data, std::size_t size) noexcept {
  if (size < 128) return sse42_pclmul(crc, data, size);
  // The first vector is padded at its front to make the rest whole ones.
  const std::size_t pad = -size % kVector;
  const std::size_t lead = kVector - pad;
  std::size_t vectors = (size + pad) / kVector;  // still to be added
  const std::uint64_t state = ~crc;
  __m512i first = pad_front(_mm512_xor_si512(_mm512_loadu_si512(data), leading_word(state)), pad);
  data += lead;
  __m512i second = _mm512_xor_si512(_mm512_loadu_si512(data), leading_word(lead < 4 ? state >> 8 * lead : 0));
  data += kVector;
  vectors -= 2;
  __m512i sum = _mm512_setzero_si512();
  if (vectors < 14) {
    sum = add_placed(sum, first, vectors + 1);
    sum = add_placed(sum, second, vectors);
  } else {
    __m512i v0 = first, v1 = second;
    __m512i v2 = _mm512_loadu_si512(data);
    __m512i v3 = _mm512_loadu_si512(data + 1 * kVector);
    __m512i v4 = _mm512_loadu_si512(data + 2 * kVector);
    __m512i v5 = _mm512_loadu_si512(data + 3 * kVector);
    __m512i v6 = _mm512_loadu_si512(data + 4 * kVector);
    __m512i v7 = _mm512_loadu_si512(data + 5 * kVector);
    data += 6 * kVector;
    vectors -= 6;
    const __m512i shift = _mm512_maskz_broadcast_i32x4(0xffff, _mm_loadu_si128(reinterpret_cast<const __m128i*>(shift_by_words(65))));
    for (; vectors >= 8; vectors -= 8, data += 8 * kVector) {
      v0 = add_products(_mm512_loadu_si512(data + 0 * kVector), v0, shift);
      v1 = add_products(_mm512_loadu_si512(data + 1 * kVector), v1, shift);
      v2 = add_products(_mm512_loadu_si512(data + 2 * kVector), v2, shift);
      v3 = add_products(_mm512_loadu_si512(data + 3 * kVector), v3, shift);
      v4 = add_products(_mm512_loadu_si512(data + 4 * kVector), v4, shift);
      v5 = add_products(_mm512_loadu_si512(data + 5 * kVector), v5, shift);
      v6 = add_products(_mm512_loadu_si512(data + 6 * kVector), v6, shift);
      v7 = add_products(_mm512_loadu_si512(data + 7 * kVector), v7, shift);
    }
    sum = add_placed(sum, v0, vectors + 7);
    sum = add_placed(sum, v1, vectors + 6);
    sum = add_placed(sum, v2, vectors + 5);
    sum = add_placed(sum, v3, vectors + 4);
    sum = add_placed(sum, v4, vectors + 3);
    sum = add_placed(sum, v5, vectors + 2);
    sum = add_placed(sum, v6, vectors + 1);
    sum = add_placed(sum, v7, vectors + 0);
  }
  for (; vectors > 0; data += kVector) {
    sum = add_placed(sum, _mm512_loadu_si512(data), --vectors);
  }
  return ~extend_by_sum(sum);
}

#endif

// ---- Dispatch -----------------------------------------------------------------------------------

struct Available {
  std::array<Crc32cImplementation, 4> implementations;
  std::size_t count = 0;

  void add(std::string_view name, decltype(Crc32cImplementation::extend) extend) noexcept {
    implementations[count++] = {name, extend};
  }
};

Available find_available() noexcept {
  Available available;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul")) {
    // The AVX-512 bits are only set where the operating system saves the registers.
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vbmi") &&
        __builtin_cpu_supports("vpclmulqdq")) {
      available.add("avx512-vpclmulqdq", avx512_vpclmul);
    }
    available.add("sse4.2-pclmul", sse42_pclmul);
  }
#endif
  available.add("software", software);
  return available;
}

std::uint32_t resolve_and_extend(std::uint32_t crc, const std::byte* data, std::size_t size) noexcept;
constinit std::atomic<decltype(Crc32cImplementation::extend)> active{resolve_and_extend};

std::uint32_t resolve_and_extend(std::uint32_t crc, const std::byte* data, std::size_t size) noexcept {
  const auto available = crc32c_implementations();
  active.store(available.front().extend, std::memory_order_relaxed);
  crc32c_detail::has_word_instruction.store(available.size() > 1, std::memory_order_relaxed);
  return available.front().extend(crc, data, size);
}

}  // namespace

constinit std::atomic<bool> crc32c_detail::has_word_instruction{false};

std::uint32_t crc32c_detail::crc32c_u64_by_dispatch(std::uint64_t value) noexcept {
  return crc32c(std::as_bytes(std::span{&value, 1}));
}

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc) noexcept {
  return active.load(std::memory_order_relaxed)(crc, bytes.data(), bytes.size());
}

std::span<const Crc32cImplementation> crc32c_implementations() noexcept {
  static const Available available = find_available();
  return std::span{available.implementations}.first(available.count);
}

}  // namespace tfreel

#include "crc32c.hpp"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

// How it works. A CRC is the remainder of a polynomial, whose coefficients are the bits of the
// input, divided by a fixed one, P. CRC-32C is "reflected": the lowest bit of the first byte is the
// highest power of x. So bit i stands for x^(31-i) in the 32-bit register that holds the remainder,
// and for x^(63-i) in a 64-bit word of the input. Taking a word w into the register r makes it
//
//     (r * x^64 + w * x^32) mod P.
//
// This is linear, which is what makes it fast: any part of the input can be worked on by itself,
// beginning with a register of 0, and be moved to its place afterwards by multiplying it with a
// power of x. Two more consequences serve below: a register counts the same as a word in the place
// of the next one, and zeros in front of the input change nothing while the register is 0.
//
// The register starts with all bits set and ends inverted. Functions named extend_... take and
// return it as it is; only those that a Crc32cImplementation names deal in finished CRCs.

namespace tfreel {
namespace {

// P without its x^32, as the register holds it.
constexpr std::uint32_t kPolynomial = 0x82f63b78;

constexpr std::uint32_t times_x(std::uint32_t p) noexcept {
  return (p >> 1) ^ ((p & 1) != 0 ? kPolynomial : 0);
}

template <class T>
T load(const void* data) noexcept {
  T value;
  std::memcpy(&value, data, sizeof value);
  return value;
}

// Portable software.

// kByteTables[n][b] is what byte b followed by n zero bytes makes of a register of 0. With eight of
// them, the bytes of a word are looked up independently of each other ("slicing by 8").
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

// CRC instructions and carry-less multiplication, on x86-64 and ARMv8.

#if defined(__x86_64__) || defined(__aarch64__)

using crc32c_detail::extend_by_instruction;

constexpr std::uint32_t kOne = 0x80000000;

// The inverse of times_x: P has a constant term, so the top bit tells whether it was added.
constexpr std::uint32_t divided_by_x(std::uint32_t p) noexcept {
  return (p & kOne) != 0 ? ((p ^ kPolynomial) << 1) | 1 : p << 1;
}

// Most words that are worked on at once.
constexpr std::size_t kBlock = 512;

// The multipliers that move a word past the words which follow it: for n of those, x^(64n - 33).
// The 33 are on account of how products are read. The multiplier, 32 bits in the lower half of a
// word, reads as itself times x^32; and the product of two words has its bit 0 at x^126, but is
// read as a pair of words, where bit 0 stands for x^127.
//
// The multiplier for n words stands n words before the end, so that multipliers for words that
// follow each other do so too.
alignas(64) constexpr auto kShifts = [] {
  std::array<std::uint64_t, kBlock> shifts{};
  std::uint32_t power = kOne;
  for (int i = 0; i < 33; ++i) power = divided_by_x(power);
  for (std::size_t n = 0; n < kBlock; ++n) {
    shifts[kBlock - 1 - n] = power;
    for (int i = 0; i < 64; ++i) power = times_x(power);
  }
  return shifts;
}();

constexpr const std::uint64_t* shift_past(std::size_t words) noexcept {
  return &kShifts[kBlock - 1 - words];
}

// Two words, of which the lower is first in the input.
using Pair [[gnu::vector_size(16)]] = std::uint64_t;

// The sum of two words, each times its multiplier. Inline assembly for the reason given at
// extend_by_instruction.
#if defined(__x86_64__)
Pair place(Pair words, Pair shifts) noexcept {
  Pair second;
  asm("movdqa %0, %1\n\t"
      "pclmulqdq $0x00, %2, %0\n\t"
      "pclmulqdq $0x11, %2, %1\n\t"
      "pxor %1, %0"
      : "+x"(words), "=&x"(second)
      : "x"(shifts));
  return words;
}
#else
Pair place(Pair words, Pair shifts) noexcept {
  Pair first;
  Pair second;
  asm(".arch_extension aes\n\t"
      "pmull %0.1q, %2.1d, %3.1d\n\t"
      "pmull2 %1.1q, %2.2d, %3.2d"
      : "=&w"(first), "=w"(second)
      : "w"(words), "w"(shifts));
  return first ^ second;
}
#endif

std::uint64_t extend_by_word(std::uint64_t state, const std::byte* data) noexcept {
#if defined(__x86_64__)
  // Straight from memory: left to themselves, compilers load the word into a register first.
  using Anywhere [[gnu::may_alias, gnu::aligned(1)]] = std::uint64_t;
  asm("crc32q %1, %0" : "+r"(state) : "m"(*reinterpret_cast<const Anywhere*>(data)));
  return state;
#else
  return extend_by_instruction(state, load<std::uint64_t>(data));
#endif
}

// By the first `size` < 8 bytes of `word`: they move to its end, behind zeros, and take the
// register's bytes with them as far as those reach; the others stay over.
std::uint64_t extend_by_part(std::uint64_t state, std::uint64_t word, std::size_t size) noexcept {
  // Two shifts, because a single one by 64 (for no bytes) is not defined.
  const std::uint64_t padded = (word ^ state) << 8 * (7 - size) << 8;
  return extend_by_instruction(0, padded) ^ state >> 8 * size;
}

// The `size` < 8 bytes at `data` as the first of a word, by loads that may overlap.
std::uint64_t load_part(const std::byte* data, std::size_t size) noexcept {
  if (size >= 4) {
    const std::uint64_t last = load<std::uint32_t>(data + size - 4);
    return load<std::uint32_t>(data) | last << 8 * (size - 4);
  }
  if (size == 0) return 0;
  const auto at = [&](std::size_t i) { return std::to_integer<std::uint32_t>(data[i]) << 8 * i; };
  return at(0) | at(size / 2) | at(size - 1);
}

// From this many words on, the overhead of extend_by_block pays.
constexpr std::size_t kShortestBlock = 36;

// By fewer words than that, one after the other.
std::uint64_t extend_in_series(std::uint64_t state, const std::byte* data,
                               std::size_t words) noexcept {
#pragma GCC unroll 36
  for (std::size_t i = 0; i < kShortestBlock - 1; ++i) {
    if (i == words) break;
    state = extend_by_word(state, data + 8 * i);
  }
  return state;
}

// By kShortestBlock to kBlock words.
//
// A CRC instruction takes 3 cycles, but one can start in each, and multiplications run beside them
// in another unit of the CPU. So the front of the block is multiplied to its end, pair by pair,
// while three chains of CRC instructions run over the three lanes that make up the rest. The first
// two lanes are then moved to the end as well, and meanwhile the third, longer by kLead, goes on.
// All that was moved joins it in its last two words.
std::uint64_t extend_by_block(std::uint64_t state, const std::byte* data,
                              std::size_t words) noexcept {
  constexpr std::size_t kLead = 6;
  constexpr std::size_t kTurn = 5;  // words in a turn of the loop: a pair and one of each lane
  const std::size_t turns = (words - kLead) / kTurn;
  const std::size_t odd_words = (words - kLead) % kTurn;
  const std::uint64_t* shifts = shift_past(words - 1);

  // The odd words come first. Masks choose them, as a branch on their number would often be
  // mispredicted. The register is kept apart so that nothing else has to wait for it.
  static constexpr std::array<std::uint64_t, 8> kMasks{~0ULL, ~0ULL, ~0ULL, ~0ULL, 0, 0, 0, 0};
  const std::uint64_t* const masks = &kMasks[kTurn - 1 - odd_words];
  const Pair before = place(Pair{state, 0}, load<Pair>(shifts));
  Pair sum = place(load<Pair>(data) & load<Pair>(masks), load<Pair>(shifts));
  sum ^= place(load<Pair>(data + 16) & load<Pair>(masks + 2), load<Pair>(shifts + 2));
  data += 8 * odd_words;
  shifts += odd_words;

  const std::size_t lane_size = 8 * turns;
  const std::byte* const first_lane = data + 2 * lane_size;
  const std::byte* const second_lane = first_lane + lane_size;
  const std::byte* const third_lane = second_lane + lane_size;
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  std::uint64_t third = 0;
  for (std::size_t at = 0; at < lane_size; at += 8, data += 16, shifts += 2) {
    sum ^= place(load<Pair>(data), load<Pair>(shifts));
    first = extend_by_word(first, first_lane + at);
    second = extend_by_word(second, second_lane + at);
    third = extend_by_word(third, third_lane + at);
  }

  const std::size_t last_lane = turns + kLead;
  sum ^= before ^ place(Pair{first, second},
                        Pair{*shift_past(turns + last_lane - 1), *shift_past(last_lane - 1)});
  const std::byte* last = third_lane + lane_size;
  for (std::size_t i = 0; i < kLead - 2; ++i, last += 8) third = extend_by_word(third, last);
  third = extend_by_instruction(third, load<std::uint64_t>(last) ^ sum[0]);
  return extend_by_instruction(third, load<std::uint64_t>(last + 8) ^ sum[1]);
}

// By any number of bytes. Those that make up no whole word are taken first.
std::uint64_t extend_by_bytes(std::uint64_t state, const std::byte* data,
                              std::size_t size) noexcept {
  if (size < 8) return extend_by_part(state, load_part(data, size), size);
  state = extend_by_part(state, load<std::uint64_t>(data), size % 8);
  data += size % 8;
  std::size_t words = size / 8;
  for (; words > kBlock; words -= kBlock, data += 8 * kBlock) {
    state = extend_by_block(state, data, kBlock);
  }
  return words < kShortestBlock ? extend_in_series(state, data, words)
                                : extend_by_block(state, data, words);
}

std::uint32_t crc_and_multiply(std::uint32_t crc, const std::byte* data,
                               std::size_t size) noexcept {
  return ~static_cast<std::uint32_t>(extend_by_bytes(~crc, data, size));
}

#endif

#if defined(__aarch64__)

// For CPUs that have the one but not the other, such as the Raspberry Pi 4's.
std::uint32_t crc_only(std::uint32_t crc, const std::byte* data, std::size_t size) noexcept {
  std::uint64_t state = ~crc;
  for (; size >= 8; data += 8, size -= 8) state = extend_by_word(state, data);
  return ~static_cast<std::uint32_t>(extend_by_part(state, load_part(data, size), size));
}

#endif

// AVX-512.

#if defined(__x86_64__)

// From this size on it is ahead of crc_and_multiply.
constexpr std::size_t kShortestWide = 128;
// From this size on, vectors are held in registers.
constexpr std::size_t kShortestHeld = 1024;

constexpr std::size_t kVector = 64;
constexpr std::size_t kVectors = 8;  // held in registers

// What place() does, for the four pairs of a vector, and added to `sum`.
[[gnu::target("avx512f,vpclmulqdq"), gnu::always_inline]] inline __m512i add_placed(
    __m512i sum, __m512i words, __m512i shifts) noexcept {
  const __m512i first = _mm512_clmulepi64_epi128(words, shifts, 0x00);
  const __m512i second = _mm512_clmulepi64_epi128(words, shifts, 0x11);
  return _mm512_ternarylogic_epi64(sum, first, second, 0x96);  // the exclusive or of the three
}

// By the pair that is the sum of the four in `pairs`, from a register of 0. (Masked intrinsics,
// with all chosen, because g++ 12 warns about its own definitions of the plain ones.)
[[gnu::target("avx512f"), gnu::always_inline]] inline std::uint64_t extend_by_pairs(
    __m512i pairs) noexcept {
  const __m256i two = _mm256_xor_si256(_mm512_maskz_extracti64x4_epi64(0xff, pairs, 0),
                                       _mm512_maskz_extracti64x4_epi64(0xff, pairs, 1));
  const __m128i one = _mm_xor_si128(_mm256_castsi256_si128(two), _mm256_extracti128_si256(two, 1));
  const Pair pair = std::bit_cast<Pair>(one);
  return extend_by_instruction(extend_by_instruction(0, pair[0]), pair[1]);
}

// By 1 to kBlock / 8 vectors of 64 bytes. Each of them is moved to the end by itself, so that none
// waits for another.
[[gnu::target("avx512f,vpclmulqdq")]] std::uint64_t extend_by_few_vectors(
    std::uint64_t state, const std::byte* data, std::size_t vectors) noexcept {
  const std::uint64_t* shifts = shift_past(8 * vectors - 1);
  const __m128i before = _mm_cvtsi64_si128(static_cast<long long>(state));
  const __m512i first = _mm512_xor_si512(_mm512_loadu_si512(data), _mm512_zextsi128_si512(before));
  __m512i sum = add_placed(_mm512_setzero_si512(), first, _mm512_loadu_si512(shifts));
  while (--vectors > 0) {
    data += kVector;
    shifts += 8;
    sum = add_placed(sum, _mm512_loadu_si512(data), _mm512_loadu_si512(shifts));
  }
  return extend_by_pairs(sum);
}

// By `vectors` >= kVectors of 64 bytes. So many of them are held in registers, moved past the next
// so many, and added to those, until the rest is short enough to move each to the end.
[[gnu::target("avx512f,vpclmulqdq")]] std::uint64_t extend_by_vectors(
    std::uint64_t state, const std::byte* data, std::size_t vectors) noexcept {
  __m512i held[kVectors];
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kVectors; ++i) held[i] = _mm512_loadu_si512(data + i * kVector);
  const __m128i before = _mm_cvtsi64_si128(static_cast<long long>(state));
  held[0] = _mm512_xor_si512(held[0], _mm512_zextsi128_si512(before));

  const __m512i shift = _mm512_maskz_broadcast_i32x4(
      0xffff, std::bit_cast<__m128i>(load<Pair>(shift_past(8 * kVectors + 1))));
  data += kVectors * kVector;
  vectors -= kVectors;
  for (; vectors >= kVectors; vectors -= kVectors, data += kVectors * kVector) {
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kVectors; ++i) {
      held[i] = add_placed(_mm512_loadu_si512(data + i * kVector), held[i], shift);
    }
  }

  const std::uint64_t* shifts = shift_past(8 * (kVectors + vectors) - 1);
  __m512i sum = _mm512_setzero_si512();
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kVectors; ++i, shifts += 8) {
    sum = add_placed(sum, held[i], _mm512_loadu_si512(shifts));
  }
  for (; vectors > 0; --vectors, data += kVector, shifts += 8) {
    sum = add_placed(sum, _mm512_loadu_si512(data), _mm512_loadu_si512(shifts));
  }
  return extend_by_pairs(sum);
}

std::uint32_t wide_multiply(std::uint32_t crc, const std::byte* data, std::size_t size) noexcept {
  if (size < kShortestWide) return crc_and_multiply(crc, data, size);
  const std::size_t odd_bytes = size % kVector;
  const std::uint64_t state = extend_by_bytes(~crc, data, odd_bytes);
  const auto extend = size < kShortestHeld ? extend_by_few_vectors : extend_by_vectors;
  return ~static_cast<std::uint32_t>(extend(state, data + odd_bytes, size / kVector));
}

#endif

// Choice.

using Extend = decltype(Crc32cImplementation::extend);

struct Available {
  std::array<Crc32cImplementation, 3> implementations{};
  std::size_t count = 0;

  void add(std::string_view name, Extend extend) noexcept {
    implementations[count++] = {name, extend};
  }
};

#if defined(__x86_64__)

void add_accelerated(Available& available) noexcept {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("pclmul")) return;
  // "avx512f" includes that the operating system saves the registers.
  const bool has_wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("vpclmulqdq");
  // The first CPUs with both, Ice Lake and its kin, have to power the wide units up: after a
  // millisecond without AVX-512 they run some 100 microseconds at a quarter of their speed. What is
  // gained is not worth that. The generations since can be told by a later extension.
  const bool prefers_wide = has_wide && __builtin_cpu_supports("avx512bf16");
  if (prefers_wide) available.add("avx512-vpclmulqdq", wide_multiply);
  available.add("sse4.2-pclmul", crc_and_multiply);
  if (has_wide && !prefers_wide) available.add("avx512-vpclmulqdq", wide_multiply);
}

#elif defined(__aarch64__) && (defined(__linux__) || defined(__APPLE__))

void add_accelerated(Available& available) noexcept {
#if defined(__linux__)
  const unsigned long capabilities = getauxval(AT_HWCAP);
  const bool has_crc = (capabilities & HWCAP_CRC32) != 0;
  const bool has_multiply = (capabilities & HWCAP_PMULL) != 0;
#else
  constexpr bool has_crc = true;
  constexpr bool has_multiply = true;
#endif
  if (has_crc && has_multiply) available.add("armv8-crc-pmull", crc_and_multiply);
  if (has_crc) available.add("armv8-crc", crc_only);
}

#else

void add_accelerated(Available&) noexcept {}

#endif

Available find_available() noexcept {
  Available available;
  add_accelerated(available);
  available.add("software", software);
  return available;
}

// What crc32c() calls: at first this, which replaces itself. It is initialised at compile time, so
// crc32c() works in the initialisers of other files; threads that come here at once all store the
// same.
std::uint32_t choose_and_extend(std::uint32_t crc, const std::byte* data,
                                std::size_t size) noexcept;
constinit std::atomic<Extend> chosen{choose_and_extend};

std::uint32_t choose_and_extend(std::uint32_t crc, const std::byte* data,
                                std::size_t size) noexcept {
  const auto available = crc32c_implementations();
  const Extend best = available.front().extend;
  chosen.store(best, std::memory_order_relaxed);
  // All implementations but the last, software, have the instruction.
  crc32c_detail::has_word_instruction.store(available.size() > 1, std::memory_order_relaxed);
  return best(crc, data, size);
}

}  // namespace

constinit std::atomic<bool> crc32c_detail::has_word_instruction{false};

std::uint32_t crc32c_detail::crc32c_u64_by_choice(std::uint64_t value) noexcept {
  return crc32c(std::as_bytes(std::span{&value, 1}));
}

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc) noexcept {
  return chosen.load(std::memory_order_relaxed)(crc, bytes.data(), bytes.size());
}

std::span<const Crc32cImplementation> crc32c_implementations() noexcept {
  static const Available available = find_available();
  return std::span{available.implementations}.first(available.count);
}

}  // namespace tfreel

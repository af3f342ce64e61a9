#include "text/text_input.hpp"

#include <cmath>

namespace sodm {

std::string quoted(const char* first, const char* last) {
    constexpr std::size_t most = 40;
    const std::size_t length = static_cast<std::size_t>(last - first);
    std::string text(first, std::min(length, most));
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) c = '?';
    return "'" + text + (length > most ? "...'" : "'");
}

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Whether a number that no double can hold lies below the smallest of them (and so is zero) rather than above
// the largest: the power of ten of its first digit that is not 0 tells.
bool is_tiny(const char* p, const char* end) {
    Index power = 0;
    bool seen = false, after_point = false;
    for (; p < end && (is_digit(*p) || *p == '.'); ++p) {
        if (*p == '.') {
            after_point = true;
            continue;
        }
        seen = seen || *p != '0';
        if (seen && !after_point) ++power;
        if (!seen && after_point) --power;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        ++p;
        const bool negative = p < end && *p == '-';
        if (p < end && (*p == '-' || *p == '+')) ++p;
        Index exponent = 0;
        for (; p < end && is_digit(*p); ++p) exponent = std::min<Index>(exponent * 10 + (*p - '0'), 1 << 30);
        power += negative ? -exponent : exponent;
    }
    return power < 0;
}

}  // namespace

Number read_number(const char*& p, const char* end, double& value) {
    const char* start = p;
    if (end - start >= 2 && *start == '+' && start[1] != '-' && start[1] != '+') ++start;
    const auto [stop, status] = std::from_chars(start, end, value);
    if (status == std::errc::invalid_argument) return Number::malformed;
    if (status == std::errc::result_out_of_range) {
        const bool negative = *start == '-';
        if (!is_tiny(start + negative, stop)) return Number::too_large;
        value = negative ? -0.0 : 0.0;
    } else if (!std::isfinite(value)) {
        return Number::not_finite;
    }
    p = stop;
    return Number::fine;
}

bool valid_utf8(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
        const unsigned char lead = byte(i);
        const int more = lead < 0x80 ? 0 : lead >= 0xc2 && lead < 0xe0 ? 1 : (lead & 0xf0) == 0xe0 ? 2 : 3;
        if (lead >= 0x80 && (lead < 0xc2 || lead > 0xf4)) return false;
        if (i + more >= text.size()) return false;
        for (int k = 1; k <= more; ++k)
            if ((byte(i + k) & 0xc0) != 0x80) return false;
        // Overlong forms, surrogates, and what lies beyond U+10FFFF.
        if (more == 2 && ((lead == 0xe0 && byte(i + 1) < 0xa0) || (lead == 0xed && byte(i + 1) > 0x9f)))
            return false;
        if (more == 3 && ((lead == 0xf0 && byte(i + 1) < 0x90) || (lead == 0xf4 && byte(i + 1) > 0x8f)))
            return false;
        i += 1 + more;
    }
    return true;
}

std::int32_t Labels::number_of(std::string_view label) {
    if (last_ >= 0 && names_[last_] == label) return last_;
    const auto found = numbers_.find(label);
    if (found != numbers_.end()) return last_ = found->second;
    for (const char c : label)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return -1;
    if (!valid_utf8(label)) return -1;
    last_ = static_cast<std::int32_t>(names_.size());
    names_.emplace_back(label);
    numbers_.emplace(names_.back(), last_);
    return last_;
}

}  // namespace sodm

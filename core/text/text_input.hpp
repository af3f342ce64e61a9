// What the parsers of text files share: numbers, labels, and lines parsed in parallel, chunk by chunk.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/memory.hpp"
#include "base/parallel.hpp"

namespace sodm {

// Where a text is wrong, and why. Lines and columns (in bytes) count from 1; line 0 is no error.
struct TextError {
    Index line = 0, column = 0;
    std::string message;
};

// A piece of the text fit for a message: quoted, at most 40 bytes, what cannot be shown replaced by '?'.
std::string quoted(const char* first, const char* last);

// A finite number, to the nearest double, in any locale. Moves `p` past it; where there is none, or it is too
// large, says why and leaves `p`.
enum class Number { fine, malformed, too_large, not_finite };
Number read_number(const char*& p, const char* end, double& value);

bool valid_utf8(std::string_view text);

// The different labels of a text, numbered in the order they are met.
class Labels {
  public:
    // The number of a label, or -1 if it is no text (UTF-8 without control characters).
    std::int32_t number_of(std::string_view label);
    const std::deque<std::string>& names() const { return names_; }

  private:
    std::deque<std::string> names_;  // a deque never moves its strings, so the keys below stay valid
    std::unordered_map<std::string_view, std::int32_t> numbers_;
    std::int32_t last_ = -1;
};

// What a vector set aside and did not use is given back, if it is more than it uses: text may hold far less
// than its size lets expect.
template <class T>
void give_back(std::vector<T>& values) {
    if (values.capacity() / 2 > values.size()) values.shrink_to_fit();
}

// A line has to be held whole. This is room for ten million values; a longer one is no row but a mistake or
// an attack, since a few packed kilobytes can be gigabytes of blanks.
constexpr std::size_t kLongestLine = std::size_t(1) << 27;

// Runs a line parser over a text that arrives in blocks of any size. Lines are cut into chunks by size alone;
// every chunk is parsed on its own, so what comes out does not depend on threads or blocks.
//
// Chunk must have `Index lines` (counted by the parser), `TextError error` and `Labels labels`; the parser is
// called as parse(begin, end, chunk) with whole lines, and stops at its first error.
template <class Chunk>
class ChunkedText {
  public:
    std::deque<Chunk> chunks;
    Labels labels;                                    // of all chunks
    std::vector<std::vector<std::int32_t>> renumber;  // per chunk: its label numbers to those of all
    TextError error;
    Index lines = 0;
    bool open_ended = false;  // whether the last line had no newline

    template <class Parse>
    void feed(const char* data, std::size_t size, Threads& threads, const Parse& parse) {
        if (error.line) return;
        const char* end = data + size;
        std::vector<std::pair<const char*, const char*>> pieces;
        const char* first = static_cast<const char*>(size ? std::memchr(data, '\n', size) : nullptr);
        if (!first) {
            keep(data, end);
            return;
        }
        std::string begun;
        if (!rest_.empty()) {
            begun.swap(rest_);
            begun.append(data, first + 1);
            pieces.emplace_back(begun.data(), begun.data() + begun.size());
            data = first + 1;
        }
        const char* tail = end;
        while (tail > data && tail[-1] != '\n') --tail;
        while (data < tail) {
            const char* cut = data + std::min<std::size_t>(chunk_bytes, tail - data);
            cut = static_cast<const char*>(std::memchr(cut - 1, '\n', tail - cut + 1)) + 1;
            pieces.emplace_back(data, cut);
            data = cut;
        }
        run(pieces, threads, parse);
        if (!error.line) keep(tail, end);
    }

    template <class Parse>
    void finish(Threads& threads, const Parse& parse) {
        if (error.line || rest_.empty()) return;
        open_ended = true;
        run({{rest_.data(), rest_.data() + rest_.size()}}, threads, parse);
        rest_.clear();
    }

  private:
    static constexpr std::size_t chunk_bytes = std::size_t(1) << 20;
    std::string rest_;  // a line whose end has not arrived yet

    void keep(const char* first, const char* last) {
        rest_.append(first, last);
        if (rest_.size() <= kLongestLine) return;
        error = {lines + 1, static_cast<Index>(kLongestLine) + 1,
                 "this line is longer than " + std::to_string(kLongestLine >> 20) +
                     " MiB: is the file what it should be?"};
        rest_ = std::string();
    }

    template <class Parse>
    void run(const std::vector<std::pair<const char*, const char*>>& pieces, Threads& threads,
             const Parse& parse) {
        const std::size_t before = chunks.size();
        chunks.resize(before + pieces.size());
        threads.run(pieces.size(), [&](std::size_t k, int worker) {
            threads.check(worker);
            parse(pieces[k].first, pieces[k].second, chunks[before + k]);
        });
        for (std::size_t k = before; k < chunks.size(); ++k) {
            Chunk& chunk = chunks[k];
            if (chunk.error.line) {
                error = std::move(chunk.error);
                error.line += lines;
                return;
            }
            lines += chunk.lines;
            renumber.emplace_back();
            for (const std::string& name : chunk.labels.names())
                renumber.back().push_back(labels.number_of(name));
            chunk.labels = Labels();
        }
    }
};

}  // namespace sodm

#include "text/libsvm_parser.hpp"

namespace sodm {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

const char* skip_blanks(const char* p, const char* end) {
    while (p < end && is_blank(*p)) ++p;
    return p;
}

const char* token_end(const char* p, const char* end) {
    while (p < end && !is_blank(*p)) ++p;
    return p;
}

// One line at a time; `fail` notes the first error and ends the chunk.
class Lines {
  public:
    Lines(const LibsvmOptions& options, LibsvmChunk& out) : options_(options), out_(out) {}

    void parse(const char* p, const char* end) {
        const std::size_t guess = static_cast<std::size_t>(end - p) / 8;  // bytes of a short index:value
        out_.index.reserve(guess);
        out_.value.reserve(guess);
        while (p < end) {
            const char* stop = static_cast<const char*>(std::memchr(p, '\n', end - p));
            line_ = p;
            ++out_.lines;
            if (!parse_line(p, stop ? stop : end)) return;
            if (!stop) return;
            p = stop + 1;
        }
    }

  private:
    bool fail(const char* where, std::string message) {
        out_.error = {out_.lines, where - line_ + 1, std::move(message)};
        return false;
    }

    bool parse_line(const char* p, const char* end) {
        p = skip_blanks(p, end);
        if (p == end || *p == '#') return true;
        const char* stop = token_end(p, end);
        if (std::memchr(p, ':', stop - p))
            return fail(p,
                        "expected a label, found " + quoted(p, stop) + ": every line begins with its label");
        const std::int32_t label = out_.labels.number_of({p, static_cast<std::size_t>(stop - p)});
        if (label < 0)
            return fail(p, "the label " + quoted(p, stop) +
                               " is not text: labels are numbers or names in UTF-8; is this a LIBSVM file?");
        const std::size_t first = out_.index.size();
        last_ = -1;
        for (p = skip_blanks(stop, end); p < end && *p != '#'; p = skip_blanks(p, end))
            if (!parse_value(p, end)) return false;
        out_.label.push_back(label);
        out_.length.push_back(static_cast<Index>(out_.index.size() - first));
        return true;
    }

    bool parse_value(const char*& p, const char* end) {
        const char* start = p;
        Index index = 0;
        const auto [colon, status] = std::from_chars(p, end, index);
        if (status == std::errc::result_out_of_range)
            return fail(start, "the index " + quoted(start, token_end(start, end)) + " is too large");
        if (status != std::errc() || *start == '-' || colon == end || *colon != ':') {
            const std::string found = quoted(start, token_end(start, end));
            if (found.compare(0, 5, "'qid:") == 0)
                return fail(start, "query numbers (qid) are for ranking, not for classes: remove them");
            return fail(start, "expected index:value, found " + found);
        }
        if (!options_.zero_based) {
            if (index == 0)
                return fail(start,
                            "index 0 where indices count from 1: pass zero_based=True if they count from 0");
            --index;
        }
        const Index shown = options_.zero_based ? 0 : 1;
        if (index <= last_)
            return fail(start, "index " + std::to_string(index + shown) + " after " +
                                   std::to_string(last_ + shown) + ": the indices of a line must ascend");
        if (options_.features >= 0 && index >= options_.features)
            return fail(start, "index " + std::to_string(index + shown) + " is beyond the " +
                                   std::to_string(options_.features) + " features there are to be");
        p = colon + 1;
        double value = 0;
        const char* stop = token_end(p, end);
        switch (read_number(p, stop, value)) {
            case Number::malformed:
                return fail(p, "expected a number after " + quoted(start, p) + ", found " + quoted(p, stop));
            case Number::too_large:
                return fail(p, "the number " + quoted(p, stop) + " is too large");
            case Number::not_finite:
                return fail(p, "the value " + quoted(p, stop) + " is not finite: values must be numbers");
            case Number::fine:
                break;
        }
        if (p != stop && *p != '#') return fail(p, quoted(p, stop) + " after a number: expected a blank");
        last_ = index;
        out_.index.push_back(index);
        out_.value.push_back(value);
        return true;
    }

    const LibsvmOptions& options_;
    LibsvmChunk& out_;
    const char* line_ = nullptr;
    Index last_ = -1;
};

void parse_chunk(const LibsvmOptions& options, const char* p, const char* end, LibsvmChunk& chunk) {
    Lines(options, chunk).parse(p, end);
    give_back(chunk.label);
    give_back(chunk.length);
    give_back(chunk.index);
    give_back(chunk.value);
}

}  // namespace

void LibsvmParser::feed(const char* data, std::size_t size, Threads& threads) {
    if (!begun_ && size >= 3 && std::memcmp(data, "\xef\xbb\xbf", 3) == 0) {  // byte order mark
        data += 3;
        size -= 3;
    }
    begun_ = begun_ || size > 0;
    text_.feed(data, size, threads, [this](const char* p, const char* end, LibsvmChunk& chunk) {
        parse_chunk(options_, p, end, chunk);
    });
}

void LibsvmParser::finish(Threads& threads) {
    text_.finish(threads, [this](const char* p, const char* end, LibsvmChunk& chunk) {
        parse_chunk(options_, p, end, chunk);
    });
    finished_ = !text_.error.line;
    rows_ = values_ = features_ = 0;
    for (const LibsvmChunk& chunk : text_.chunks) {
        rows_ += static_cast<Index>(chunk.label.size());
        values_ += static_cast<Index>(chunk.value.size());
        for (const Index index : chunk.index) features_ = std::max(features_, index + 1);
    }
    if (options_.features >= 0) features_ = options_.features;
}

template <class I>
void LibsvmParser::take(std::int32_t* label, I* indptr, I* indices, double* data, Threads& threads) {
    if (!finished_) throw std::logic_error("the text has not been parsed to its end");
    finished_ = false;
    std::vector<Index> first_row{0}, first_value{0};
    for (const LibsvmChunk& chunk : text_.chunks) {
        first_row.push_back(first_row.back() + static_cast<Index>(chunk.label.size()));
        first_value.push_back(first_value.back() + static_cast<Index>(chunk.value.size()));
    }
    indptr[0] = 0;
    threads.run(text_.chunks.size(), [&](std::size_t k, int) {
        const LibsvmChunk chunk = std::move(text_.chunks[k]);
        Index value = first_value[k];
        for (std::size_t i = 0; i < chunk.label.size(); ++i) {
            label[first_row[k] + i] = text_.renumber[k][chunk.label[i]];
            value += chunk.length[i];
            indptr[first_row[k] + i + 1] = static_cast<I>(value);
        }
        for (std::size_t i = 0; i < chunk.index.size(); ++i)
            indices[first_value[k] + i] = static_cast<I>(chunk.index[i]);
        std::copy(chunk.value.begin(), chunk.value.end(), data + first_value[k]);
    });
    text_.chunks.clear();
}

template void LibsvmParser::take(std::int32_t*, std::int32_t*, std::int32_t*, double*, Threads&);
template void LibsvmParser::take(std::int32_t*, std::int64_t*, std::int64_t*, double*, Threads&);

}  // namespace sodm

#include "text/csv_parser.hpp"

namespace sodm {

namespace {

class Lines {
  public:
    Lines(const CsvOptions& options, CsvChunk& out) : options_(options), out_(out) {}

    void parse(const char* p, const char* end) {
        while (p < end) {
            const char* newline = static_cast<const char*>(std::memchr(p, '\n', end - p));
            const char* stop = newline ? newline : end;
            line_ = p;
            ++out_.lines;
            if (stop > p && stop[-1] == '\r') --stop;
            if (stop > p && !parse_line(p, stop)) return;  // empty lines count, and are no rows
            if (!newline) return;
            p = newline + 1;
        }
    }

  private:
    bool fail(const char* where, std::string message) {
        out_.error = {out_.lines, where - line_ + 1, std::move(message)};
        return false;
    }

    std::string column_name(Index column) const {
        std::string name = "column " + std::to_string(column + 1);
        if (!options_.names.empty()) {
            const std::string& own = options_.names[column];
            name += " (" + quoted(own.data(), own.data() + own.size()) + ")";
        }
        return name;
    }

    bool parse_line(const char* p, const char* end) {
        std::int32_t label = -1;
        for (Index column = 0;; ++column) {
            if (column == options_.columns)
                return fail(p, "more than " + std::to_string(options_.columns) + " fields in this line");
            const char* start = p;
            const char *first, *last;
            if (!parse_field(p, end, first, last)) return false;
            if (column == options_.label_column) {
                if (first == last) return fail(start, "the label is missing");
                label = out_.labels.number_of({first, static_cast<std::size_t>(last - first)});
                if (label < 0)
                    return fail(start, "the label " + quoted(first, last) +
                                           " is not text: labels are numbers or names in UTF-8");
            } else if (!parse_value(column, start, first, last)) {
                return false;
            }
            if (p == end) {
                if (column + 1 < options_.columns)
                    return fail(p, std::to_string(column + 1) + " fields where there should be " +
                                       std::to_string(options_.columns));
                break;
            }
            ++p;  // the separator
        }
        out_.label.push_back(label);
        return true;
    }

    // From p to the next separator: the field without blanks and quotes around it.
    bool parse_field(const char*& p, const char* end, const char*& first, const char*& last) {
        const auto blank = [&](char c) { return c == ' ' || (c == '\t' && options_.separator != '\t'); };
        while (p < end && blank(*p)) ++p;
        if (p < end && *p == '"') {
            const char* open = p;
            unquoted_.clear();
            for (++p;; ++p) {
                if (p == end)
                    return fail(
                        open, "a quote is opened and not closed in this line: fields must not hold newlines");
                if (*p == '"' && !(p + 1 < end && p[1] == '"')) break;
                if (*p == '"') ++p;
                unquoted_.push_back(*p);
            }
            ++p;
            while (p < end && blank(*p)) ++p;
            if (p < end && *p != options_.separator)
                return fail(p, "expected a separator after a closing quote, found " + quoted(p, p + 1));
            first = unquoted_.data();
            last = first + unquoted_.size();
            return true;
        }
        first = p;
        const char* stop = static_cast<const char*>(std::memchr(p, options_.separator, end - p));
        p = stop ? stop : end;
        last = p;
        while (last > first && blank(last[-1])) --last;
        return true;
    }

    bool parse_value(Index column, const char* start, const char* first, const char* last) {
        if (first == last)
            return fail(start, "no value in " + column_name(column) +
                                   ": fill missing values in first (scikit-learn's SimpleImputer does)");
        double value = 0;
        const char* p = first;
        const Number number = read_number(p, last, value);
        if (number == Number::too_large)
            return fail(start, "the number " + quoted(first, last) + " is too large");
        if (number == Number::not_finite)
            return fail(
                start,
                quoted(first, last) + " in " + column_name(column) +
                    " is not finite: fill missing values in first (scikit-learn's SimpleImputer does)");
        if (number == Number::malformed || p != last)
            return fail(start,
                        "text " + quoted(first, last) + " in " + column_name(column) +
                            ": features must be numbers; turn categories into numbers first (scikit-learn's "
                            "OneHotEncoder or pandas.get_dummies do), or name the right label column");
        out_.value.push_back(value);
        return true;
    }

    const CsvOptions& options_;
    CsvChunk& out_;
    const char* line_ = nullptr;
    std::string unquoted_;
};

void parse_chunk(const CsvOptions& options, const char* p, const char* end, CsvChunk& chunk) {
    Lines(options, chunk).parse(p, end);
    give_back(chunk.label);
    give_back(chunk.value);
}

}  // namespace

CsvParser::CsvParser(CsvOptions options) : options_(std::move(options)) {
    if (options_.columns < 1 || options_.label_column >= options_.columns)
        throw std::invalid_argument("there must be columns, and the label must be one of them");
    if (!options_.names.empty() && static_cast<Index>(options_.names.size()) != options_.columns)
        throw std::invalid_argument("there must be one name per column");
    features_ = options_.columns - (options_.label_column >= 0);
    text_.lines = options_.lines_before;
}

void CsvParser::feed(const char* data, std::size_t size, Threads& threads) {
    text_.feed(data, size, threads, [this](const char* p, const char* end, CsvChunk& chunk) {
        parse_chunk(options_, p, end, chunk);
    });
}

void CsvParser::finish(Threads& threads) {
    text_.finish(threads, [this](const char* p, const char* end, CsvChunk& chunk) {
        parse_chunk(options_, p, end, chunk);
    });
    finished_ = !text_.error.line;
    rows_ = 0;
    for (const CsvChunk& chunk : text_.chunks) rows_ += static_cast<Index>(chunk.label.size());
}

void CsvParser::take(std::int32_t* label, double* data, Threads& threads) {
    if (!finished_) throw std::logic_error("the text has not been parsed to its end");
    finished_ = false;
    std::vector<Index> first_row{0};
    for (const CsvChunk& chunk : text_.chunks)
        first_row.push_back(first_row.back() + static_cast<Index>(chunk.label.size()));
    threads.run(text_.chunks.size(), [&](std::size_t k, int) {
        const CsvChunk chunk = std::move(text_.chunks[k]);
        if (options_.label_column >= 0)
            for (std::size_t i = 0; i < chunk.label.size(); ++i)
                label[first_row[k] + i] = text_.renumber[k][chunk.label[i]];
        std::copy(chunk.value.begin(), chunk.value.end(), data + first_row[k] * features_);
    });
    text_.chunks.clear();
}

}  // namespace sodm

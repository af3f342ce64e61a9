// LIBSVM text: one row per line, "label index:value index:value ...", absent values being zero.
//
// Indices ascend and count from 1 (or from 0, if said so). '#' begins a comment. Labels are any text without
// blanks and colons. Anything else is an error, named by line and column.
#pragma once

#include "text/text_input.hpp"

namespace sodm {

struct LibsvmOptions {
    bool zero_based = false;
    Index features = -1;  // indices beyond are errors; -1: any
};

struct LibsvmChunk {
    Index lines = 0;
    TextError error;
    Labels labels;
    std::vector<std::int32_t> label;  // per row, the number of its label in `labels`
    std::vector<Index> length;        // per row, how many values it has
    std::vector<Index> index;         // from 0
    std::vector<double> value;
};

class LibsvmParser {
  public:
    explicit LibsvmParser(LibsvmOptions options) : options_(options) {}

    void feed(const char* data, std::size_t size, Threads& threads);
    // The text has ended: after this, and if there is no error, the totals hold and `take` may be called.
    void finish(Threads& threads);

    const TextError& error() const { return text_.error; }
    const std::deque<std::string>& label_names() const { return text_.labels.names(); }
    bool open_ended() const { return text_.open_ended; }
    Index rows() const { return rows_; }
    Index values() const { return values_; }
    Index features() const { return features_; }

    // Moves the rows into arrays of rows() labels, rows() + 1 row starts, and values() indices and values.
    // Chunks are freed as they are copied. I is int32 or int64.
    template <class I>
    void take(std::int32_t* label, I* indptr, I* indices, double* data, Threads& threads);

  private:
    LibsvmOptions options_;
    ChunkedText<LibsvmChunk> text_;
    bool begun_ = false, finished_ = false;
    Index rows_ = 0, values_ = 0, features_ = 0;
};

}  // namespace sodm

// Text with a separator between fields (CSV, TSV): numbers everywhere, and any text in the column of labels.
//
// A field may stand in double quotes, a quote inside written twice. A quoted newline is an error, as are
// missing fields, missing values and text among the features: each named by line and column.
#pragma once

#include "text/text_input.hpp"

namespace sodm {

struct CsvOptions {
    char separator = ',';
    Index columns = 0;               // fields per line
    Index label_column = -1;         // -1: none
    Index lines_before = 0;          // lines of the file that came before the text, for messages
    std::vector<std::string> names;  // of the columns, for messages; may be empty
};

struct CsvChunk {
    Index lines = 0;
    TextError error;
    Labels labels;
    std::vector<std::int32_t> label;
    std::vector<double> value;  // row by row
};

class CsvParser {
  public:
    explicit CsvParser(CsvOptions options);

    void feed(const char* data, std::size_t size, Threads& threads);
    void finish(Threads& threads);

    const TextError& error() const { return text_.error; }
    const std::deque<std::string>& label_names() const { return text_.labels.names(); }
    bool open_ended() const { return text_.open_ended; }
    Index rows() const { return rows_; }
    Index features() const { return features_; }

    // Moves the rows into arrays of rows() labels (if there are any) and rows() x features() values.
    void take(std::int32_t* label, double* data, Threads& threads);

  private:
    CsvOptions options_;
    ChunkedText<CsvChunk> text_;
    bool finished_ = false;
    Index rows_ = 0, features_ = 0;
};

}  // namespace sodm

// The parsers of text: exact numbers, errors by line and column, the same rows however the text is cut.
#include "base/random.hpp"
#include "check.hpp"
#include "text/csv_parser.hpp"
#include "text/libsvm_parser.hpp"

using namespace sodm;

namespace {

struct Rows {
    std::vector<std::int32_t> label, indptr, indices;
    std::vector<double> data;
    bool operator==(const Rows& o) const {
        return label == o.label && indptr == o.indptr && indices == o.indices && data == o.data;
    }
};

LibsvmParser parsed(const std::string& text, std::size_t block, int n_threads) {
    LibsvmParser parser{LibsvmOptions{}};
    Threads threads(n_threads);
    for (std::size_t at = 0; at < text.size(); at += block)
        parser.feed(text.data() + at, std::min(block, text.size() - at), threads);
    parser.finish(threads);
    return parser;
}

Rows rows_of(LibsvmParser parser, int n_threads) {
    Rows rows;
    rows.label.resize(parser.rows());
    rows.indptr.resize(parser.rows() + 1);
    rows.indices.resize(parser.values());
    rows.data.resize(parser.values());
    Threads threads(n_threads);
    parser.take(rows.label.data(), rows.indptr.data(), rows.indices.data(), rows.data.data(), threads);
    return rows;
}

void error_is(const std::string& text, Index line, Index column) {
    for (const std::size_t block : {std::size_t(1), std::size_t(5), text.size()}) {
        const TextError error = parsed(text, block, 2).error();
        if (!CHECK(error.line == line && error.column == column))
            std::fprintf(stderr, "  %s: line %lld column %lld\n", error.message.c_str(),
                         (long long)error.line, (long long)error.column);
    }
}

void test_numbers() {
    const auto value = [](const std::string& text) {
        double v = 7;
        const char* p = text.data();
        CHECK(read_number(p, text.data() + text.size(), v) == Number::fine);
        CHECK(p == text.data() + text.size());
        return v;
    };
    CHECK(value("0.1") == 0.1 && value("+3") == 3 && value("-2.5e-3") == -2.5e-3 && value(".5") == 0.5);
    CHECK(value("5e-324") == 5e-324 && value("1.7976931348623157e308") == 1.7976931348623157e308);
    CHECK(value("1e-400") == 0 && std::signbit(value("-0.0000001e-999999999999")));
    CHECK(value("9007199254740993") == 9007199254740992.0);  // half-way, to even
    const auto status = [](const std::string& text) {
        double v;
        const char* p = text.data();
        return read_number(p, text.data() + text.size(), v);
    };
    CHECK(status("1e400") == Number::too_large && status("-100000000000e300") == Number::too_large);
    CHECK(status("nan") == Number::not_finite && status("-inf") == Number::not_finite);
    CHECK(status("x") == Number::malformed && status("+-1") == Number::malformed &&
          status("") == Number::malformed);
}

void test_utf8() {
    CHECK(valid_utf8("abc") && valid_utf8("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"));
    for (const char* bad :
         {"\x80", "\xc0\xaf", "\xe2\x82", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80"})
        CHECK(!valid_utf8(bad));
}

void test_errors() {
    error_is("1 1:2\nx 0:1\n", 2, 3);
    error_is("1 1:2 1:3\n", 1, 7);
    error_is("# c\n\n1 2:1 1:3\n", 3, 7);
    error_is("1:2\n", 1, 1);
    error_is("1 1:\n", 1, 5);
    error_is("1 1:2x\n", 1, 6);
    error_is("1 a:2\n", 1, 3);
    error_is("1 -1:2\n", 1, 3);
    error_is("1 99999999999999999999:2\n", 1, 3);
    error_is("1 1:1e999", 1, 5);
    error_is("1 1:nan\n", 1, 5);
    error_is("1 qid:3 1:2\n", 1, 3);
    error_is(std::string("\0\1 1:2\n", 7), 1, 1);
    error_is("\xff\xfe 1:2\n", 1, 1);
}

void test_cuts() {
    Random rng(1);
    std::string text;
    for (int i = 0; i < 60000; ++i) {
        text += i % 7 ? "+1" : "name";
        Index index = 0;
        for (int k = 0; k < static_cast<int>(rng.below(9)); ++k) {
            index += 1 + static_cast<Index>(rng.below(50));
            text += " " + std::to_string(index) + ":" + std::to_string(rng.uniform());
        }
        text += i % 11 ? "\n" : " # note\r\n";
    }
    const Rows whole = rows_of(parsed(text, text.size(), 1), 1);
    CHECK(whole.label.size() == 60000);
    for (const std::size_t block : {std::size_t(97), std::size_t(65536), std::size_t(1500000)})
        for (const int n_threads : {1, 3}) CHECK(rows_of(parsed(text, block, n_threads), n_threads) == whole);
}

void test_csv() {
    CsvOptions options;
    options.columns = 3;
    options.label_column = 1;
    Threads threads(2);
    const std::string text = "1,\"a \"\"b\"\"\",2\r\n\n 3 , c, 4e1";
    CsvParser parser(options);
    for (const char& c : text) parser.feed(&c, 1, threads);
    parser.finish(threads);
    CHECK(!parser.error().line && parser.rows() == 2 && parser.features() == 2 && parser.open_ended());
    CHECK(parser.label_names()[0] == "a \"b\"" && parser.label_names()[1] == "c");
    std::vector<std::int32_t> label(2);
    std::vector<double> data(4);
    parser.take(label.data(), data.data(), threads);
    CHECK((data == std::vector<double>{1, 2, 3, 40}));
    CHECK(test::throws<std::logic_error>([&] { parser.take(label.data(), data.data(), threads); }));

    const auto error = [&](const std::string& line) {
        CsvParser p(options);
        p.feed(line.data(), line.size(), threads);
        p.finish(threads);
        return std::make_pair(p.error().line, p.error().column);
    };
    using Place = std::pair<Index, Index>;
    CHECK(error("1,a,2\n1,a\n") == Place(2, 4) && error("1,a,2,3\n") == Place(1, 7));
    CHECK(error("1,a,red\n") == Place(1, 5) && error("1,a,\n") == Place(1, 5) &&
          error("1,,2\n") == Place(1, 3));
    CHECK(error("1,\"a\nb\",2\n") == Place(1, 3) && error("1,\"a\"b,2\n") == Place(1, 6));
    CHECK(error("inf,a,2\n") == Place(1, 1));
}

void test_a_line_without_end() {
    Threads threads(2);
    const std::string blanks(std::size_t(1) << 24, ' ');
    LibsvmParser parser{LibsvmOptions{}};
    parser.feed("1 1:1\n", 6, threads);
    for (std::size_t fed = 0; fed <= kLongestLine && !parser.error().line; fed += blanks.size())
        parser.feed(blanks.data(), blanks.size(), threads);
    parser.finish(threads);
    CHECK(parser.error().line == 2);
    CHECK(parser.error().message.find("longer than 128 MiB") != std::string::npos);
}

}  // namespace

int main() {
    test_numbers();
    test_utf8();
    test_errors();
    test_cuts();
    test_csv();
    test_a_line_without_end();
    return test::failures();
}

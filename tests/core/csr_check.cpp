// The check of CSR matrices: what is wrong is named, and whether indices ascend is known.
#include "base/csr_check.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/random.hpp"
#include "check.hpp"

using namespace sodm;

namespace {

template <class I>
CsrCheck checked(const std::vector<I>& indptr, const std::vector<I>& indices, Index columns) {
    return check_csr(indptr.data(), static_cast<Index>(indptr.size()) - 1, indices.data(),
                     static_cast<Index>(indices.size()), columns);
}

template <class I>
void faults() {
    using V = std::vector<I>;
    const auto says = [](const CsrCheck& found, const char* words) {
        return found.fault.find(words) != std::string::npos;
    };
    CHECK(checked<I>(V{0}, V{}, 0).fault.empty());
    CHECK(checked<I>(V{0, 0, 2, 2}, V{0, 4}, 5).ascending);
    CHECK(checked<I>(V{0, 2, 4}, V{3, 4, 0, 1}, 5).ascending);  // falling from one row to the next is fine
    CHECK(!checked<I>(V{0, 2, 4}, V{3, 3, 0, 1}, 5).ascending);
    CHECK(!checked<I>(V{0, 2, 4}, V{3, 4, 1, 0}, 5).ascending);
    CHECK(says(checked<I>(V{1, 2}, V{0, 0}, 5), "begins with 1"));
    CHECK(says(checked<I>(V{0, 2, 1, 2}, V{0, 1}, 5), "falls from 2 to 1 at row 1"));
    CHECK(says(checked<I>(V{0, 3}, V{0, 1}, 5), "ends with 3 where there are only 2"));
    CHECK(says(checked<I>(V{0, 1, 1, 3}, V{0, 1, 5}, 5), "row 2 has the index 5"));
    CHECK(says(checked<I>(V{0, 1, 2}, V{-1, 1}, 5), "row 0 has the index -1"));
    CHECK(says(checked<I>(V{0, 1}, V{0}, 0), "there are 0 columns"));
    const I largest = std::numeric_limits<I>::max() - 1;
    CHECK(checked<I>(V{0, 1}, V{largest}, std::numeric_limits<Index>::max()).fault.empty());
}

// Against the plain way to ask, on rows of all lengths.
void ascending_is_told() {
    Random random(1);
    for (int round = 0; round < 200; ++round) {
        std::vector<std::int32_t> indptr{0}, indices;
        bool ascending = true;
        const int rows = static_cast<int>(random.below(9));
        for (int i = 0; i < rows; ++i) {
            const int length = static_cast<int>(random.below(round % 2 ? 4 : 1500));
            std::int32_t last = -1;
            for (int e = 0; e < length; ++e) {
                const auto next = static_cast<std::int32_t>(
                    random.below(2000) == 0 ? random.below(3000) : std::min<Index>(last + 1, 2999));
                ascending = ascending && next > last;
                indices.push_back(next);
                last = next;
            }
            indptr.push_back(static_cast<std::int32_t>(indices.size()));
        }
        const CsrCheck found = checked(indptr, indices, 3000);
        CHECK(found.fault.empty());
        CHECK(found.ascending == ascending);
    }
}

}  // namespace

int main() {
    faults<std::int32_t>();
    faults<std::int64_t>();
    ascending_is_told();
    return sodm::test::failures();
}

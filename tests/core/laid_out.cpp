// Points are laid out alike by one thread and by many: dense, sparse and as bytes.
#include <algorithm>

#include "check.hpp"
#include "kernel/point_set.hpp"
#include "points.hpp"

using namespace sodm;
using namespace sodm::test;

namespace {

template <class V>
bool equal(const V& a, const V& b) {
    return a.size() == b.size() && std::equal(a.data(), a.data() + a.size(), b.data());
}

template <class T>
void threads_change_nothing(const Data& data, const KernelFunction& kernel, bool sparse) {
    Threads three(3);
    for (const Form form : {Form::rows, Form::columns, Form::single_rows, Form::csr32, Form::csr64}) {
        const PointSet<T> one(data.view(form), kernel), many(data.view(form), kernel, &three);
        CHECK(one.layout.sparse == many.layout.sparse && one.layout.sparse == sparse);
        CHECK(one.bytes.whole == many.bytes.whole);
        CHECK(one.layout.centre == many.layout.centre && one.layout.step == many.layout.step);
        CHECK(equal(one.dense, many.dense) && equal(one.value, many.value));
        CHECK(one.feature == many.feature && one.ptr == many.ptr);
        CHECK(equal(one.bytes.value, many.bytes.value) && one.bytes.sum == many.bytes.sum);
        CHECK(one.bytes.square == many.bytes.square && one.bytes.fits == many.bytes.fits);
        CHECK(equal(one.row_norm, many.row_norm) && equal(one.column_norm, many.column_norm));
        CHECK(one.diagonal == many.diagonal);
        if (!sparse) continue;
        CHECK(one.ptr.back() == static_cast<std::int64_t>(data.csr_value.size()));
        CHECK(std::equal(one.feature.begin(), one.feature.end(), data.feature32.begin()));
    }
}

}  // namespace

int main() {
    for (const KernelFunction& kernel : all_kernels(130)) {
        threads_change_nothing<float>(Data(1300, 130, 0.1, 1), kernel, true);
        threads_change_nothing<double>(Data(1300, 130, 0.1, 1), kernel, true);
        threads_change_nothing<double>(Data(1300, 130, 0.9, 2), kernel, false);
        // Multiples of 1/64 from -1 on: no bytes. From 0 on, where there are loops for them, bytes.
        threads_change_nothing<float>(Data(1300, 130, 0.9, 3, 2.0, -1.0), kernel, false);
        threads_change_nothing<float>(Data(1300, 130, 0.9, 4), kernel, false);
    }
    return failures();
}

#include "kernel/shapley.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace sodm {

namespace {

constexpr Index kLanes = 16;                // support vectors that go through the loop together
constexpr Index kChunk = 64 * kLanes;       // of a task
constexpr Index kPartial = Index(1) << 22;  // doubles kept for sums of tasks

typedef double Pair __attribute__((vector_size(16)));
constexpr Index kPairs = kLanes / 2;

struct Workspace {
    Buffer<double> base, delta, sums, before;
};

// For each lane: sums[j] = sum_q weights[q] prod_{l != j} (base[l] + nodes[q] delta[l]), as the product of
// the factors before j and of those after it: no division, so that a factor may be 0.
void integrate(const Quadrature& rule, Index features, Workspace& work) {
    const Pair* b = reinterpret_cast<const Pair*>(work.base.data());
    const Pair* d = reinterpret_cast<const Pair*>(work.delta.data());
    Pair *s = reinterpret_cast<Pair*>(work.sums.data()),
         *before = reinterpret_cast<Pair*>(work.before.data());
    for (Index i = 0; i < features * kPairs; ++i) s[i] = Pair{};
    for (int q = 0; q < rule.n; ++q) {
        const double t = rule.nodes[q];
        Pair product[kPairs];
        for (Pair& p : product) p = Pair{} + rule.weights[q];
        for (Index j = 0; j < features; ++j)
            for (Index p = 0; p < kPairs; ++p) {
                const Index i = j * kPairs + p;
                before[i] = product[p];
                product[p] *= b[i] + t * d[i];
            }
        for (Pair& p : product) p = Pair{} + 1.0;
        for (Index j = features; j-- > 0;)
            for (Index p = 0; p < kPairs; ++p) {
                const Index i = j * kPairs + p;
                s[i] += product[p] * before[i];
                product[p] *= b[i] + t * d[i];
            }
    }
}

// Adds to out (n_outputs x features) what the support vectors begin..end give to one row.
void add_chunk(const ProductSum& sum, const Quadrature& rule, const double* row, Index begin, Index end,
               double* out, Workspace& work) {
    const Index d = sum.features;
    const std::size_t size = static_cast<std::size_t>(d * kLanes);
    for (Buffer<double>* buffer : {&work.base, &work.delta, &work.sums, &work.before}) buffer->resize(size);
    double *base = work.base.data(), *delta = work.delta.data(), *sums = work.sums.data();
    for (Index i = begin; i < end; i += kLanes) {
        const Index lanes = std::min(kLanes, end - i);
        for (Index j = 0; j < d; ++j) {
            const double *z = sum.support + j * sum.n_support + i, *r = sum.removed + j * sum.n_support + i;
            for (Index w = 0; w < lanes; ++w) {
                const double apart = row[j] - z[w];
                const double k = std::exp(-sum.gamma * (sum.absolute ? std::fabs(apart) : apart * apart));
                base[j * kLanes + w] = r[w];
                delta[j * kLanes + w] = k - r[w];
            }
            for (Index w = lanes; w < kLanes; ++w) base[j * kLanes + w] = 1, delta[j * kLanes + w] = 0;
        }
        integrate(rule, d, work);
        for (std::size_t k = 0; k < size; ++k) sums[k] *= delta[k];
        for (Index c = 0; c < sum.n_outputs; ++c) {
            const double* a = sum.coefficients + c * sum.n_support + i;
            for (Index j = 0; j < d; ++j) {
                double total = 0;
                for (Index w = 0; w < lanes; ++w) total += a[w] * sums[j * kLanes + w];
                out[c * d + j] += total;
            }
        }
    }
}

}  // namespace

void shapley_values(const ProductSum& sum, const Quadrature& rule, const double* rows, Index n_rows,
                    double* out, Threads& threads) {
    const Index d = sum.features, width = d * sum.n_outputs;
    const Index n_chunks = std::max<Index>(1, (sum.n_support + kChunk - 1) / kChunk);
    const Index at_once = std::max<Index>(1, kPartial / std::max<Index>(1, n_chunks * width));
    std::vector<Workspace> work(static_cast<std::size_t>(threads.count()));
    std::vector<double> partial;
    for (Index first = 0; first < n_rows; first += at_once) {
        const Index count = std::min(at_once, n_rows - first);
        partial.assign(static_cast<std::size_t>(count * n_chunks * width), 0.0);
        threads.run(static_cast<std::size_t>(count * n_chunks), [&](std::size_t task, int worker) {
            const Index k = static_cast<Index>(task), row = first + k / n_chunks, chunk = k % n_chunks;
            add_chunk(sum, rule, rows + row * d, chunk * kChunk,
                      std::min(sum.n_support, (chunk + 1) * kChunk), partial.data() + k * width,
                      work[static_cast<std::size_t>(worker)]);
        });
        for (Index k = 0; k < count; ++k)
            for (Index j = 0; j < d; ++j)
                for (Index c = 0; c < sum.n_outputs; ++c) {
                    double total = 0;
                    for (Index chunk = 0; chunk < n_chunks; ++chunk)
                        total +=
                            partial[static_cast<std::size_t>((k * n_chunks + chunk) * width + c * d + j)];
                    out[((first + k) * d + j) * sum.n_outputs + c] = total;
                }
    }
}

}  // namespace sodm

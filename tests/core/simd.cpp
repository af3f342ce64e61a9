// The inner loops of every instruction set against plain loops, and the choice between them.
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "check.hpp"
#include "kernel/packed_tile.hpp"
#include "points.hpp"
#include "simd/ops.hpp"
#include "simd/sums_of.hpp"

using namespace sodm;
using namespace sodm::test;

namespace {

template <class T>
std::vector<T> random_values(std::size_t n, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<T> values(n);
    for (T& v : values) v = static_cast<T>(uniform(random));
    return values;
}

double pair_of(Pairing pairing, double x, double z) {
    if (pairing == Pairing::product) return x * z;
    return pairing == Pairing::squared_difference ? (x - z) * (x - z) : std::fabs(x - z);
}

constexpr Pairing kPairings[] = {Pairing::product, Pairing::squared_difference, Pairing::absolute_difference};

template <class T>
void dense_pairs(const std::string& set) {
    constexpr int W = kPanel<T>;
    for (Pairing pairing : kPairings)
        for (int rows : {1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 48})
            for (int features : {1, 2, 7, 33})
                for (bool by_columns : {false, true})
                    for (bool accumulate : {false, true}) {
                        const int ldp = W + 3, ldo = W + 1;  // odd strides: no alignment may be assumed
                        const auto x = random_values<T>(static_cast<std::size_t>(rows * features), 1);
                        const auto panel = random_values<T>(static_cast<std::size_t>(features * ldp), 2);
                        auto out = random_values<T>(static_cast<std::size_t>(rows * ldo), 3);
                        const auto before = out;
                        const int row_step = by_columns ? 1 : features, feature_step = by_columns ? rows : 1;
                        simd<T>().pair_dense(pairing, x.data(), row_step, feature_step, rows, features,
                                             panel.data(), ldp, out.data(), ldo, accumulate);
                        for (int r = 0; r < rows; ++r) {
                            for (int c = 0; c < W; ++c) {
                                double sum = accumulate ? before[at(r * ldo + c)] : 0;
                                for (int k = 0; k < features; ++k)
                                    sum += pair_of(pairing, x[at(r * row_step + k * feature_step)],
                                                   panel[at(k * ldp + c)]);
                                CHECK_NEAR(out[at(r * ldo + c)], sum, tolerance<T>(), set);
                            }
                            CHECK(out[at(r * ldo + W)] == before[at(r * ldo + W)]);  // nothing past the panel
                        }
                    }
}

template <class T>
void sparse_pairs(const std::string& set) {
    constexpr int W = kPanel<T>;
    const int features = 40, ldo = W;
    const auto panel = random_values<T>(static_cast<std::size_t>(features * W), 4);
    std::vector<std::int32_t> feature;
    std::vector<std::int64_t> ptr{0};
    for (int r = 0; r < 9; ++r) {  // row r has r entries
        for (int e = 0; e < r; ++e) feature.push_back((r * 5 + e * 3) % features);
        ptr.push_back(static_cast<std::int64_t>(feature.size()));
    }
    const auto value = random_values<T>(feature.size(), 5);
    for (Pairing pairing : kPairings) {
        std::vector<T> out(9 * W);
        simd<T>().pair_sparse(pairing, value.data(), feature.data(), ptr.data(), 9, panel.data(), out.data(),
                              ldo);
        for (int r = 0; r < 9; ++r)
            for (int c = 0; c < W; ++c) {
                double sum = 0;
                for (auto e = ptr[at(r)]; e < ptr[at(r) + 1]; ++e) {
                    const double z = panel[at(feature[at(e)] * W + c)];
                    sum += pair_of(pairing, value[at(e)], z) - pair_of(pairing, 0, z);
                }
                CHECK_NEAR(out[at(r * ldo + c)], sum, tolerance<T>(), set);
            }
    }
}

// Tiles of T, summed as A.
template <class T, class A>
void tile_products(const std::string& set) {
    const SumsOf<T, A> sums;
    for (int rows : {1, 2, 3, 4, 5, 47, 48})
        for (int lanes = kPanel<T>; lanes <= 128; lanes += kPanel<T>) {
            const int ld = 130;
            const auto tile = random_values<T>(static_cast<std::size_t>(rows * ld), 6);
            const auto a = random_values<A>(static_cast<std::size_t>(rows), 7);
            const auto b = random_values<A>(static_cast<std::size_t>(lanes), 8);
            auto y = random_values<A>(static_cast<std::size_t>(lanes), 9), y2 = y;
            auto z = random_values<A>(static_cast<std::size_t>(rows), 10), z2 = z;
            std::vector<double> ye(y.begin(), y.end()), ze(z.begin(), z.end());
            for (int r = 0; r < rows; ++r)
                for (int c = 0; c < lanes; ++c) {
                    const double k = tile[at(r * ld + c)];
                    ye[at(c)] += a[at(r)] * k;
                    ze[at(r)] += k * b[at(c)];
                }
            sums.add_rows(tile.data(), ld, rows, lanes, a.data(), y.data());
            sums.add_columns(tile.data(), ld, rows, lanes, b.data(), z.data());
            sums.add_both(tile.data(), ld, rows, lanes, a.data(), y2.data(), b.data(), z2.data());
            for (int c = 0; c < lanes; ++c) {
                CHECK_NEAR(y[at(c)], ye[at(c)], tolerance<A>(), set);
                CHECK_NEAR(y2[at(c)], ye[at(c)], tolerance<A>(), set);
            }
            for (int r = 0; r < rows; ++r) {
                CHECK_NEAR(z[at(r)], ze[at(r)], tolerance<A>(), set);
                CHECK_NEAR(z2[at(r)], ze[at(r)], tolerance<A>(), set);
            }
        }
}

template <class T>
void scaled_rows(const std::string& set) {
    for (std::ptrdiff_t n : {0, 1, 7, 100}) {
        const auto x = random_values<T>(at(n), 11);
        auto y = random_values<double>(at(n), 12);
        const auto before = y;
        simd<T>().add_scaled(x.data(), 0.3, y.data(), n);
        for (std::ptrdiff_t i = 0; i < n; ++i)
            CHECK_NEAR(y[at(i)], before[at(i)] + 0.3 * static_cast<double>(x[at(i)]), 1e-15, set);
    }
}

// Products with a tile as of the values it stands for.
template <class T>
void check_products(const TileProducts<T>& products, const TileValues<T>& tile, int rows, int columns,
                    const std::string& set) {
    const int lanes = lanes_for<T>(columns);
    auto a = random_values<T>(at(kTile), 22), b = random_values<T>(at(kTile), 23);
    std::fill(b.begin() + columns, b.end(), T(0));
    std::vector<T> y(kTile), y2(kTile), z(kTile), z2(kTile);
    products.over_rows(tile, rows, lanes, a.data(), y.data());
    products.over_columns(tile, rows, lanes, b.data(), z.data());
    products.over_both(tile, rows, lanes, a.data(), y2.data(), b.data(), z2.data());
    for (int c = 0; c < columns; ++c) {
        double sum = 0;
        for (int r = 0; r < rows; ++r)
            sum += static_cast<double>(a[at(r)]) * static_cast<double>(products.value(tile, r, c));
        CHECK_NEAR(y[at(c)], sum, tolerance<T>(), set);
        CHECK_NEAR(y2[at(c)], sum, tolerance<T>(), set);
    }
    for (int r = 0; r < rows; ++r) {
        double sum = 0;
        for (int c = 0; c < columns; ++c)
            sum += static_cast<double>(b[at(c)]) * static_cast<double>(products.value(tile, r, c));
        CHECK_NEAR(z[at(r)], sum, tolerance<T>(), set);
        CHECK_NEAR(z2[at(r)], sum, tolerance<T>(), set);
    }
}

// Values in two bytes: no further off than half a step, and products as of the values they stand for.
template <class T>
void packed_tiles(const std::string& set) {
    const Packing<T> packing(0.25, 1.25);
    const TileProducts<T> products(packing, 0.25);
    for (int rows : {1, 7, kTile})
        for (int columns : {3, 32, 100, kTile}) {
            std::vector<T> tile(at(kTile * kTile), std::numeric_limits<T>::quiet_NaN());
            auto random = random_values<T>(at(kTile * kTile), 21);
            for (int r = 0; r < rows; ++r)
                for (int c = 0; c < columns; ++c)
                    tile[at(r * kTile + c)] =
                        static_cast<T>(0.25) + random[at(r * kTile + c)] * random[at(r * kTile + c)];
            tile[0] = T(0.25);
            tile[at(columns - 1)] = T(1.25);
            std::vector<std::uint16_t> packed(at(kTile * kTile), 0);
            const TileValues<T> kept = products.pack(tile.data(), rows, columns, packed.data());
            CHECK(kept.packed == packed.data());
            for (int r = 0; r < rows; ++r)
                for (int c = 0; c < columns; ++c) {
                    const auto value = static_cast<double>(tile[at(r * kTile + c)]);
                    const double off = static_cast<double>(products.value(kept, r, c)) - value;
                    CHECK(std::fabs(off) <= 1.01 * std::sqrt(std::max(0.0, value - 0.25)) / 65535 + 3e-7);
                }
            for (const T outside :
                 {T(0.2), T(1.3), std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()}) {
                auto other = tile;
                other[at((rows - 1) * kTile + columns - 1)] = outside;
                std::vector<std::uint16_t> room(packed.size());
                CHECK(!products.pack(other.data(), rows, columns, room.data()).packed);
            }
            check_products(products, kept, rows, columns, set);
        }
}

// Rows far apart at the edges of a tile: products take them for what they are, and do not read them.
template <class T>
void tile_extents(const std::string& set) {
    for (double far : {0.0, 0.25})
        for (TileExtent near : {TileExtent{0, 128, 0, 128}, TileExtent{3, 90, 32, 64},
                                TileExtent{40, 41, 0, 96}, TileExtent{0, 7, 64, 128}, TileExtent{0, 0, 0, 0}})
            for (int columns : {kTile, 100}) {
                const int rows = kTile, lanes = lanes_for<T>(columns);
                const Packing<T> packing(far, far + 1);
                const TileProducts<T> products(packing, far);
                const auto random = random_values<T>(at(kTile * kTile), 31);
                std::vector<T> tile(at(kTile * kTile), static_cast<T>(far + 1e-9));
                for (int r = near.first_row; r < near.end_row; ++r)
                    for (int c = near.first_column; c < near.end_column; ++c)
                        tile[at(r * kTile + c)] =
                            static_cast<T>(far + 0.5 + 0.4 * static_cast<double>(random[at(r * kTile + c)]));
                std::vector<std::uint16_t> room(tile.size());
                const TileValues<T> packed = products.pack(tile.data(), rows, columns, room.data());
                const TileValues<T> whole = products.whole(tile.data(), rows, columns, 1e-8);
                for (const TileValues<T>& kept : {packed, whole}) {
                    CHECK(kept.extent.first_row == near.first_row && kept.extent.end_row == near.end_row);
                    CHECK(kept.extent.first_column == near.first_column);
                    CHECK(kept.extent.end_column == std::min(near.end_column, lanes));
                    check_products(products, kept, rows, columns, set);
                }
            }
}

template <class T>
void squared_distances(const std::string& set) {
    for (int n : {0, 1, 5, 16, 33, 54, 200}) {
        const auto x = random_values<T>(at(n), 41), z = random_values<T>(at(n), 42);
        double sum = 0;
        for (int k = 0; k < n; ++k) sum += pair_of(Pairing::squared_difference, x[at(k)], z[at(k)]);
        CHECK_NEAR(simd<T>().squared_distance(x.data(), z.data(), n), sum, tolerance<T>(), set);
    }
}

// The exponential, through the kernel that is nothing but one: relative error over its whole range.
template <class T>
void exponential(const std::string& set) {
    constexpr int W = kPanel<T>;
    const double lowest = sizeof(T) == 4 ? -86.5 : -700;
    const double allowed = sizeof(T) == 4 ? 3e-7 : 1e-15;
    KernelFunction laplacian{KernelKind::laplacian, 1, 0, 1, 0};
    std::vector<T> tile(W), zero(W, T(0));
    for (int step = 0; step < 4000; ++step) {
        for (int c = 0; c < W; ++c) tile[at(c)] = static_cast<T>(-lowest * (step + c / double(W)) / 4000);
        const auto argument = tile;
        simd<T>().transform(laplacian, false, tile.data(), W, 1, W, zero.data(), zero.data());
        for (int c = 0; c < W; ++c) {
            const double expected = std::exp(-static_cast<double>(argument[at(c)]));
            CHECK_NEAR(tile[at(c)] / expected, 1.0, allowed, set);
        }
    }
    // Far out the value is zero for every purpose, never a NaN or a negative number.
    for (T far : {T(100), T(1e4), T(1e30)}) {
        std::fill(tile.begin(), tile.end(), far);
        simd<T>().transform(laplacian, false, tile.data(), W, 1, W, zero.data(), zero.data());
        for (T v : tile) CHECK(v >= 0 && v < 1e-30);
    }
}

void choosing() {
    const std::string best = simd_name();
    const auto sets = instruction_sets();
    CHECK(!sets.empty() && sets.front() == best);
    CHECK(sets.back() == "baseline");
    for (const auto& set : sets) {
        CHECK(simd_select(set.c_str()));
        CHECK(simd_name() == set);
        CHECK(simd<float>().name == set && simd<double>().name == set);
    }
    CHECK(!simd_select("no such set"));
    CHECK(simd_name() == sets.back());
    CHECK(simd_select(best.c_str()));
}

}  // namespace

int main() {
    choosing();
    for (const auto& set : instruction_sets()) {
        simd_select(set.c_str());
        dense_pairs<float>(set);
        dense_pairs<double>(set);
        sparse_pairs<float>(set);
        sparse_pairs<double>(set);
        tile_products<float, float>(set);
        tile_products<float, double>(set);
        scaled_rows<float>(set);
        tile_products<double, double>(set);
        scaled_rows<double>(set);
        packed_tiles<float>(set);
        packed_tiles<double>(set);
        tile_extents<float>(set);
        tile_extents<double>(set);
        squared_distances<float>(set);
        squared_distances<double>(set);
        exponential<float>(set);
        exponential<double>(set);
    }
    return failures();
}

// Passes of block coordinate steps over the tiles of a Gram matrix.
//
// A block's turn needs what the blocks before it have changed, and they need what it has changed when theirs
// comes again. Both are products with the tiles of its own tile row, which so comes from memory once in a
// pass:
//
//   bring  what blocks before it have changed, to block i: all but the last of them, whose turn is not over;
//   solve  block i, on one thread, after what block i - 1 has changed is brought too;
//   give   what block i has changed to the blocks before it, while the tiles are near.
//
// These are tasks in a list that threads take one by one, each waiting for no more than what it needs:
//
//   solve(0) bring(1)   solve(1) bring(2) give(0)   ...   solve(i) bring(i + 1) give(i - 1)   ...
//
// So a thread that has nothing left to bring or give goes on to the next block and waits there for the last
// one, and nobody waits for the end of a turn. What a task waits for stands before it in the list. Sums are
// made in the order of the blocks, by whichever thread: the number of threads changes nothing.
#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>

#include "kernel/gram.hpp"

namespace sodm {

namespace {
constexpr std::size_t kGroup = 2;         // tiles of a task: enough work to be worth handing out
constexpr int kSpins = 64, kLooks = 200;  // before a thread looks whether it is to stop; then gives way

std::size_t at(Index i) { return static_cast<std::size_t>(i); }
}  // namespace

template <class T>
struct GramMatrix<T>::PassPlan {
    // One block's turn, or what some of the blocks that it sees, seen[block][first..last-1], are to it.
    struct Task {
        enum What { solve, bring, give } what;
        Index block;
        std::size_t first, last;
    };

    explicit PassPlan(const GramMatrix& gram) : seen(at(gram.tile_rows())) {
        const Index tiles = gram.tile_rows();
        for (Index i = 0; i < tiles; ++i) {
            const TileRow& row = gram.tiles_[at(i)];
            for (Index j = 0; j < i; ++j) {
                if (!row.constant[at(j)]) seen[at(i)].push_back(j);
                constants |= row.constant[at(j)] && row.value[at(j)] != 0;
            }
        }
        to_bring.assign(at(tiles), 0);
        to_give.assign(at(tiles), 0);
        for (Index turn = 0; turn <= tiles; ++turn) {
            if (turn < tiles) tasks.push_back({Task::solve, turn, 0, 0});
            if (turn + 1 < tiles) list(Task::bring, turn + 1, early(turn + 1), to_bring[at(turn + 1)]);
            if (turn > 0) list(Task::give, turn - 1, seen[at(turn - 1)].size(), to_give[at(turn - 1)]);
        }
    }

    // How many of the blocks that a block sees come before the last one.
    std::size_t early(Index block) const {
        const std::vector<Index>& own = seen[at(block)];
        return own.size() - (!own.empty() && own.back() == block - 1 ? 1 : 0);
    }

    std::vector<std::vector<Index>> seen;  // blocks before a block whose tiles with it are not constant
    std::vector<Task> tasks;
    std::vector<int> to_bring, to_give;  // tasks of each block
    bool constants = false;              // whether any tile is constant and not zero

  private:
    void list(typename Task::What what, Index block, std::size_t count, int& listed) {
        for (std::size_t k = 0; k < count; k += kGroup, ++listed)
            tasks.push_back({what, block, k, std::min(count, k + kGroup)});
    }
};

template <class T>
class GramMatrix<T>::Pass {
  public:
    Pass(GramMatrix& gram, double* f, const BlockStep& solve)
        : gram_(gram),
          plan_(*gram.plan_),
          f_(f),
          solve_(solve),
          products_(gram.packing_, gram.source_.far_value()),
          tiles_(gram.tile_rows()),
          change_(at(tiles_) * kTile),
          total_(at(tiles_), 0.0),
          changed_(at(tiles_), 0),
          to_bring_(new std::atomic<int>[at(tiles_)]),
          to_give_(new std::atomic<int>[at(tiles_)]),
          work_(at(gram.threads_.count())) {
        std::size_t most = 0;
        for (std::size_t i = 0; i < at(tiles_); ++i) {
            most = std::max(most, plan_.seen[i].size());
            to_bring_[i] = plan_.to_bring[i];
            to_give_[i] = plan_.to_give[i];
        }
        for (Buffer<double>& brought : brought_) brought.resize(most * kTile);
    }

    void run() {
        gram_.threads_.run(plan_.tasks.size(), [&](std::size_t k, int worker) {
            const Task& task = plan_.tasks[k];
            switch (task.what) {
                case Task::solve:
                    return solve(task.block, worker);
                case Task::bring:
                    return bring(task, worker);
                case Task::give:
                    return give(task, worker);
            }
        });
        if (!plan_.constants) return;
        std::vector<double> level(at(tiles_), 0.0);  // what all rows of a block get from constant tiles
        for (Index i = 0; i < tiles_; ++i)
            for (Index j = 0; j < i; ++j)
                if (is_constant(i, j)) level[at(j)] += value(i, j) * total_[at(i)];
        for (Index j = 0; j < tiles_; ++j) raise(j, level[at(j)]);
    }

  private:
    using Task = typename PassPlan::Task;

    template <class Condition>
    void wait(int worker, const Condition& condition) const {
        for (int looks = 0; !condition(); ++looks) {
            for (int k = 0; k < kSpins && !condition(); ++k) pause_briefly();
            gram_.threads_.check(worker);
            if (looks > kLooks) std::this_thread::yield();
        }
    }
    void wait_until_solved(int worker, Index blocks) const {
        wait(worker, [&] { return solved_.load(std::memory_order_acquire) >= blocks; });
    }
    void wait_until_done(int worker, const std::atomic<int>& tasks) const {
        wait(worker, [&] { return tasks.load(std::memory_order_acquire) == 0; });
    }

    void solve(Index i, int worker) {
        wait_until_solved(worker, i);
        wait_until_done(worker, to_bring_[at(i)]);
        Workspace<T>& work = work_[at(worker)];
        const std::vector<Index>& seen = plan_.seen[at(i)];
        for (std::size_t k = plan_.early(i); k < seen.size(); ++k)
            if (changed_[at(seen[k])]) bring_one(i, k, work);
        for (std::size_t k = 0; k < seen.size(); ++k)
            if (changed_[at(seen[k])])
                for (int c = 0; c < gram_.height(i); ++c) f_[i * kTile + c] += brought(i, k)[c];
        double from_constant = 0;
        for (Index j = 0; j < i && plan_.constants; ++j)
            if (is_constant(i, j)) from_constant += value(i, j) * total_[at(j)];
        raise(i, from_constant);

        const T* block = gram_.diagonal_tile(i, work, diagonal_);
        T* moved = change_.data() + i * kTile;
        std::fill(moved, moved + kTile, T(0));
        solve_(i * kTile, gram_.height(i), block, moved);
        for (int c = 0; c < kTile; ++c) total_[at(i)] += static_cast<double>(moved[c]);
        changed_[at(i)] = std::any_of(moved, moved + kTile, [](T c) { return c != 0; });
        solved_.store(i + 1, std::memory_order_release);
    }

    void bring(const Task& task, int worker) {
        wait_until_solved(worker, task.block - 1);
        for (std::size_t k = task.first; k < task.last; ++k)
            if (changed_[at(plan_.seen[at(task.block)][k])]) bring_one(task.block, k, work_[at(worker)]);
        to_bring_[at(task.block)].fetch_sub(1, std::memory_order_release);
    }
    void bring_one(Index i, std::size_t k, Workspace<T>& work) {
        const Index j = plan_.seen[at(i)][k];
        alignas(64) T sum[kTile] = {};
        products_.over_rows(tile(i, j, work), gram_.height(j), lanes_for<T>(gram_.height(i)),
                            change_.data() + j * kTile, sum);
        std::transform(sum, sum + kTile, brought(i, k), [](T v) { return static_cast<double>(v); });
    }

    void give(const Task& task, int worker) {
        const Index i = task.block;
        wait_until_solved(worker, i + 1);
        if (i > 0) wait_until_done(worker, to_give_[at(i - 1)]);  // blocks get it in this order
        for (std::size_t k = task.first; k < task.last && changed_[at(i)]; ++k) {
            const Index j = plan_.seen[at(i)][k];
            alignas(64) T sum[kTile] = {};
            products_.over_columns(tile(i, j, work_[at(worker)]), gram_.height(j),
                                   lanes_for<T>(gram_.height(i)), change_.data() + i * kTile, sum);
            add(j, sum);
        }
        to_give_[at(i)].fetch_sub(1, std::memory_order_release);
    }

    TileValues<T> tile(Index i, Index j, Workspace<T>& work) const {
        if (i < gram_.stored_) return gram_.tiles_[at(i)].kept[at(j)];
        work.tile.resize(kTileValues);
        gram_.source_.load_columns(Subset{gram_.rows_.data(), gram_.size()}, i * kTile, gram_.height(i),
                                   work);
        gram_.evaluate_tile(j, work, work.tile.data());
        return gram_.as_kept(j, i, work);
    }
    bool is_constant(Index i, Index j) const { return gram_.tiles_[at(i)].constant[at(j)] != 0; }
    double value(Index i, Index j) const { return static_cast<double>(gram_.tiles_[at(i)].value[at(j)]); }
    void raise(Index i, double by) {
        for (int c = 0; c < gram_.height(i); ++c) f_[i * kTile + c] += by;
    }
    void add(Index i, const T* sum) {
        for (int c = 0; c < gram_.height(i); ++c) f_[i * kTile + c] += static_cast<double>(sum[c]);
    }
    // What the k-th block that block i sees has brought to it. Two blocks have room at a time: nothing is
    // brought to block i + 2 before block i is solved.
    double* brought(Index i, std::size_t k) { return brought_[at(i % 2)].data() + k * kTile; }

    GramMatrix& gram_;
    const PassPlan& plan_;
    double* f_;
    const BlockStep& solve_;
    TileProducts<T> products_;
    Index tiles_;
    Buffer<T> change_, diagonal_;
    Buffer<double> brought_[2];
    std::vector<double> total_;                               // of the changes of a block
    std::vector<char> changed_;                               // whether there are any
    std::atomic<Index> solved_{0};                            // blocks
    std::unique_ptr<std::atomic<int>[]> to_bring_, to_give_;  // tasks of a block that are left
    std::vector<Workspace<T>> work_;
};

template <class T>
void GramMatrix<T>::relax(double* f, const BlockStep& solve) {
    look_at_all();
    if (!plan_) plan_ = std::make_shared<const PassPlan>(*this);
    Pass(*this, f, solve).run();
}

template void GramMatrix<float>::relax(double*, const BlockStep&);
template void GramMatrix<double>::relax(double*, const BlockStep&);

}  // namespace sodm

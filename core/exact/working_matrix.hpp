// The linear algebra of a Newton step on one working set: products, solves and coordinate passes.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "exact/active_factor.hpp"
#include "exact/held_bias.hpp"
#include "exact/nystrom.hpp"
#include "exact/solve.hpp"
#include "exact/step_policy.hpp"
#include "kernel/gram.hpp"

namespace sodm {

// Products and solves with the Gram matrix of one working set.
class WorkingMatrix {
  public:
    virtual ~WorkingMatrix() = default;
    virtual Index size() const = 0;
    // y[v] = K x[v]
    virtual void multiply(const std::vector<const Values*>& x, std::vector<Values>& y) = 0;
    // Solves for step.x, with its product step.kx. False when the matrix turned out not to be positive
    // semidefinite and need not be. A kernel that is so by its formula only looks indefinite by rounding:
    // then the solution is as good as rounding lets it be, and the step that is made of it judged like any
    // other.
    virtual bool solve(const std::vector<Step*>& steps, double shift) = 0;
    // Products that conjugate gradients have taken so far, without a factor of the system.
    virtual int products() const { return 0; }
    // A pass of coordinate steps; of the kernel without its constant, if the bias is held.
    virtual void relax(Machine& machine, const OdmLoss& loss, double shift, HeldBias* bias = nullptr) = 0;
};

// Few rows: the whole matrix in double, Cholesky.
template <class T>
class DenseMatrix : public WorkingMatrix {
  public:
    DenseMatrix(const KernelSource<T>& source, const std::vector<Index>& rows, bool maybe_indefinite,
                Threads& threads);
    Index size() const override { return n_; }
    void multiply(const std::vector<const Values*>& x, std::vector<Values>& y) override;
    bool solve(const std::vector<Step*>& steps, double shift) override;
    void relax(Machine& machine, const OdmLoss& loss, double shift, HeldBias* bias) override;

  private:
    Index n_;
    bool maybe_indefinite_;
    Threads& threads_;
    Values k_;
};

// Many rows: preconditioned conjugate gradients, all machines in step on shared kernel values.
template <class T>
class IterativeMatrix : public WorkingMatrix {
  public:
    IterativeMatrix(const KernelSource<T>& source, const Problem& problem, const Options& options,
                    Threads& threads)
        : maybe_indefinite_(problem.maybe_indefinite),
          threads_(threads),
          source_(source),
          of_cache_(std::min(kOfCache, options.block_bytes() / 2)),
          gram_(source, options.cache_bytes - taken(problem), threads),
          factor_(source, threads),
          count_(problem.count),
          seed_(options.seed) {}

    // The kernel is local and rows come in neighbourhood order: the preconditioner takes its strength from
    // what the rows of a tile are to each other, and few landmarks.
    void use_neighbours(bool local) { local_ = local; }
    // What has been seen of the machines' systems is of fewer rows, and may not hold any more. Kernel values
    // of this level may be packed; `wide`: products are summed in double.
    void begin_level(bool packed, bool wide);
    // Starts over with these rows, or adds them at the end.
    void assign(const std::vector<Index>& rows);
    void append(const std::vector<Index>& rows);

    // Whether the systems of so many rows may be factored: not where that takes more memory than a fit may
    // have beside its cache and a part of that. How large the cache is beyond a gigabyte decides nothing.
    bool can_factor(Index rows) const { return factor_bytes(rows, count_) <= kBesideCache + of_cache_; }
    // Whether that is so little work that all rows may as well be taken.
    bool factors_soon(Index rows) const { return factor_bytes(rows, count_) <= kBesideCache; }
    // Whether some machine's conjugate gradients took so long, on these rows or those before, that its
    // systems were factored.
    bool factors() const {
        return was_hard_ || std::any_of(own_.begin(), own_.end(), [](const Own& own) { return own.hard; });
    }

    Index size() const override { return gram_.size(); }
    void multiply(const std::vector<const Values*>& x, std::vector<Values>& y) override;
    bool solve(const std::vector<Step*>& steps, double shift) override;
    void relax(Machine& machine, const OdmLoss& loss, double shift, HeldBias* bias) override;
    int products() const override { return products_; }

  private:
    static constexpr std::size_t kBesideCache = std::size_t(400) << 20, kOfCache = std::size_t(500) << 20;
    static std::size_t factor_bytes(Index rows, int count) {
        return static_cast<std::size_t>(rows * rows) * sizeof(T) * static_cast<std::size_t>(count);
    }
    // What the factors of a problem may take of the cache.
    std::size_t taken(const Problem& problem) const {
        const std::size_t bytes = factor_bytes(problem.n, problem.count);
        return std::min(bytes - std::min(bytes, kBesideCache), of_cache_);
    }

    struct Run;   // conjugate gradients of one machine
    struct Own {  // what is kept for a machine from step to step
        std::unique_ptr<NystromPreconditioner<T>> nystrom;
        std::unique_ptr<ActiveFactor<T>> factor;
        int products = 0;          // that conjugate gradients took with Nystrom
        bool hard = false;         // which was too many: systems are factored
        bool singular = false;     // which rounding does not allow on these rows
        std::vector<char> active;  // rows of the last system
        Index follow(const Values& d);
    };
    void take_residuals();
    void start_products(const std::vector<Step*>& steps, double shift);
    void finish_products(std::vector<Run>& runs);
    Own& own(const Run& run);
    void precondition(Run& run);
    void use_nystrom(Run& run);
    void factor(Run& run);
    void multiply(const std::vector<const Values*>& x, const std::vector<char>& wanted,
                  std::vector<Values>& y);

    bool maybe_indefinite_, local_ = false, was_hard_ = false, packed_ = false, wide_ = false;
    Threads& threads_;
    const KernelSource<T>& source_;
    std::size_t of_cache_;  // bytes that factors may take of it
    GramMatrix<T> gram_;
    NystromFactor<T> factor_;
    TileResiduals<T> residuals_;
    std::vector<Own> own_;  // of the machines, as they came
    int count_;             // machines
    std::uint64_t seed_;
    int products_ = 0;
};

}  // namespace sodm

// The linear algebra of a Newton step on one working set: products, solves and coordinate passes.
#pragma once

#include <memory>
#include <vector>

#include "kernel/gram.hpp"
#include "exact/newton_machine.hpp"
#include "exact/nystrom.hpp"
#include "exact/solve.hpp"

namespace sodm {

// The system of one Newton step: which rows are in, with which sign.
struct Step {
    Machine* machine;
    std::vector<signed char> side;  // 1 below the dead zone, -1 above, 0 not in A
    Values inverse_d, target, x;    // 1 / D (0 outside A), t, start and solution
    double cg_target = 0;
};

// Products and solves with the Gram matrix of one working set.
class WorkingMatrix {
  public:
    virtual ~WorkingMatrix() = default;
    virtual Index size() const = 0;
    // y[v] = K x[v]
    virtual void multiply(const std::vector<const Values*>& x, std::vector<Values>& y) = 0;
    // Solves for step.x. False when the matrix turned out not to be positive definite.
    virtual bool solve(const std::vector<Step*>& steps, double shift) = 0;
    // A pass of coordinate steps.
    virtual void relax(Machine& machine, const OdmLoss& loss, double shift) = 0;
};

// Few rows: the whole matrix in double, Cholesky.
template <class T>
class DenseMatrix : public WorkingMatrix {
  public:
    DenseMatrix(const KernelSource<T>& source, const std::vector<Index>& rows, Threads& threads);
    Index size() const override { return n_; }
    void multiply(const std::vector<const Values*>& x, std::vector<Values>& y) override;
    bool solve(const std::vector<Step*>& steps, double shift) override;
    void relax(Machine& machine, const OdmLoss& loss, double shift) override;

  private:
    Index n_;
    Threads& threads_;
    Values k_;
};

// Many rows: preconditioned conjugate gradients, all machines in step on shared kernel values.
template <class T>
class IterativeMatrix : public WorkingMatrix {
  public:
    IterativeMatrix(const KernelSource<T>& source, const Options& options, Threads& threads)
        : threads_(threads),
          gram_(source, options.cache_bytes, threads),
          factor_(source, threads),
          seed_(options.seed) {}

    // Starts over with these rows, or adds them at the end.
    void assign(const std::vector<Index>& rows);
    void append(const std::vector<Index>& rows);

    Index size() const override { return gram_.size(); }
    void multiply(const std::vector<const Values*>& x, std::vector<Values>& y) override;
    bool solve(const std::vector<Step*>& steps, double shift) override;
    void relax(Machine& machine, const OdmLoss& loss, double shift) override;

  private:
    struct Run;  // conjugate gradients of one machine

    Threads& threads_;
    GramMatrix<T> gram_;
    NystromFactor<T> factor_;
    std::uint64_t seed_;
};

}  // namespace sodm

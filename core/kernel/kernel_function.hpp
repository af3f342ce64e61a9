// The kernel functions, as plain numbers the inner loops can take.
#pragma once

namespace sodm {

enum class KernelKind { linear, rbf, polynomial, sigmoid, laplacian };

// k(x, z), in terms of <x, z>, |x - z|^2 or |x - z|_1:
//   linear      <x, z>
//   rbf         exp(-gamma |x - z|^2)
//   polynomial  (gamma <x, z> + coef0)^degree
//   sigmoid     tanh(gamma <x, z> + coef0)
//   laplacian   exp(-gamma |x - z|_1)
// plus `offset`: a constant feature in kernel space, which is how a bias term enters (k + 1).
struct KernelFunction {
    KernelKind kind = KernelKind::rbf;
    double gamma = 1.0;
    double coef0 = 0.0;
    int degree = 3;
    double offset = 0.0;

    bool shift_invariant() const { return kind == KernelKind::rbf || kind == KernelKind::laplacian; }
    // Whether its matrices are positive semidefinite whatever the points, by the formula.
    bool positive_definite() const {
        return kind != KernelKind::sigmoid && !(kind == KernelKind::polynomial && coef0 < 0);
    }
};

}  // namespace sodm

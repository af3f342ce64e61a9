"""The training problem: losses, kernels, and repeated rows folded into weights."""

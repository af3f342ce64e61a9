"""The search for good parameters: folds on shared kernel values, paths along lam, halving."""

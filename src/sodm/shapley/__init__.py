"""Why a machine decides as it does: exact Shapley values."""

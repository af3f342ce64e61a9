"""The linear problem: rows in memory, in chunks, or remembered as a quadratic, and the objective over them.

For problem p with positive class c, over rows x_i with weights s_i, y_i = +1 where the class is c and -1
elsewhere, m_i = y_i <w, x_i> and W = sum s_i, the primal objective of the ODM loss is

    p(w) = 1/2 |w|^2 + lam / (2 W (1-theta)^2) * sum_i s_i [ (1-theta-m_i)_+^2 + upsilon (m_i-1-theta)_+^2 ].

Rows give the sum, half its gradient and half its Hessian (`RowSums`); sums over several lots of rows are
sums of their sums. `LinearProblem` adds the scale and the norm.

The certificate is free. The duals that the optimality conditions assign to w (`OdmLoss.lift`) make the
Fenchel-Young inequality an equality in every row, and what is left of the duality gap is 1/2 |w - w_g|^2
with w_g = sum_i y_i g_i x_i = w - grad p(w): the gap is half the squared gradient norm, to the last digit.
"""

from sodm.problem.linear.chunked import ChunkedRows
from sodm.problem.linear.maker import RowMaker
from sodm.problem.linear.memory import SMALL, LongRows, MemoryRows, core_rows
from sodm.problem.linear.objective import LinearProblem
from sodm.problem.linear.past import QuadraticRows, RowsWithPast
from sodm.problem.linear.sums import Curvature, RowSteps, RowSums, Sums

__all__ = [
    "SMALL",
    "ChunkedRows",
    "Curvature",
    "LinearProblem",
    "LongRows",
    "MemoryRows",
    "QuadraticRows",
    "RowMaker",
    "RowSteps",
    "RowSums",
    "RowsWithPast",
    "Sums",
    "core_rows",
]

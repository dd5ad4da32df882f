import numpy as np

from takifugu.mechanisms.optimal.linear_program import Rows, diagonal, identity, kron, listed, picked


def test_matrices_are_those_of_numpy():
    rng = np.random.default_rng(0)
    left, right = (rng.integers(-1, 2, shape) * rng.random(shape) for shape in ((3, 4), (2, 5)))
    a, b = listed(left), listed(right)
    np.testing.assert_array_equal(kron(a, b).sparse().toarray(), np.kron(left, right))
    np.testing.assert_array_equal((-a).sparse().toarray(), -left)
    np.testing.assert_array_equal((a + a).sparse().toarray(), 2 * left)
    np.testing.assert_array_equal(picked(np.array([2, 0]), 3).sparse().toarray(), np.eye(3)[[2, 0]])
    np.testing.assert_array_equal(diagonal(right[0]).sparse().toarray(), np.diag(right[0]))


def test_what_cancels_is_no_entry():
    ones = listed(np.ones((2, 2)))
    assert (ones + -ones).sparse().nnz == 0


def test_blocks_stand_under_the_names_of_their_variables():
    rows = Rows({"channel": 2, "other": 1})
    rows.add(np.array([1.0]), other=identity(1))
    rows.add(np.array([2.0, 3.0]), channel=identity(2), other=-listed(np.ones((2, 1))))
    matrix, limits = rows.entries().sparse(), rows.limit()
    np.testing.assert_array_equal(matrix.toarray(), [[0, 0, 1], [1, 0, -1], [0, 1, -1]])
    np.testing.assert_array_equal(limits, [1, 2, 3])

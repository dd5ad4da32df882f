"""A net under the house: what the public surface answers, written down, so that the inside can be moved.

Nothing here imports a module of Takifugu's: only `takifugu as tk` and the command line. Each case is run and its
figures are compared with those in `data/` to nine digits; a test that fails says of each figure what it was and what
it is. The words of messages are kept in files of their own (`*.texts.json`), with a test of their own, so that new
words can be recorded without a look at the figures, and the other way round.

To record anew, from the root of the repository:

    python -m tests.golden.record                       everything, after a look at what it prints
    python -m tests.golden.record publications          one family
    python -m tests.golden.record --texts               words alone: figures that moved stay as they were, and fail
    python -m tests.golden.record --figures             figures alone
    python -m tests.golden.record --check               write nothing; say what moved, and exit 1

It prints what moved before it writes. When is it allowed? When a change *means* to move these very figures, and the
commit says which moved and why. A change that only moves, renames or simplifies code may move none. A θ, a covariance
or a loss that became smaller needs its proof; one that became larger needs its reason. The choice among channels that
cost the same may move with a version of a solver: then `error` and `lower_bound` stay, and `channel` alone moves.
"""

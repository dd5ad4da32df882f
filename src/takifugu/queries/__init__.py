"""What is published, and what an adversary would expect of it: a table becomes one prior per secret."""

from takifugu.queries.bnn import BNN
from takifugu.queries.fitting import fit_priors
from takifugu.queries.gp import GP
from takifugu.queries.mean import Mean
from takifugu.queries.priors import Beliefs, Priors
from takifugu.queries.raw import Raw
from takifugu.tables.binned import Binned, binned

__all__ = ["BNN", "GP", "Beliefs", "Binned", "Mean", "Priors", "Raw", "binned", "fit_priors"]

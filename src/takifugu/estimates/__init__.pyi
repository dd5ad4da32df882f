from takifugu.estimates.estimating import Estimates as Estimates
from takifugu.estimates.estimating import estimate as estimate
from takifugu.estimates.scores import described as described

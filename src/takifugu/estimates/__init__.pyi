from takifugu.estimates.description import described as described
from takifugu.estimates.estimating import Estimates as Estimates
from takifugu.estimates.estimating import estimate as estimate

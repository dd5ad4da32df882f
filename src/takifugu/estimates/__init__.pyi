from takifugu.estimates.comparing import Compared as Compared
from takifugu.estimates.comparing import Comparison as Comparison
from takifugu.estimates.comparing import compared_laws as compared_laws
from takifugu.estimates.comparing import compared_tables as compared_tables
from takifugu.estimates.estimating import Estimates as Estimates
from takifugu.estimates.estimating import estimate as estimate
from takifugu.estimates.scores import described as described

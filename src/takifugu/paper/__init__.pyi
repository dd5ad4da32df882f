from takifugu.paper.cache import Cache as Cache
from takifugu.paper.cache import default_folder as default_folder
from takifugu.paper.evaluation import reproduce as reproduce
from takifugu.paper.settings import Plan as Plan

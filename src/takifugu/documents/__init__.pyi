from takifugu.documents.nouns import guarantee_to as guarantee_to
from takifugu.documents.nouns import law_to as law_to

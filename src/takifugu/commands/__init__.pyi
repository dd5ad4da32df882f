from takifugu.commands.output import in_flags as in_flags
from takifugu.commands.output import said as said
from takifugu.commands.output import sentence_of as sentence_of
from takifugu.commands.progress import done as done
from takifugu.commands.progress import noticing as noticing

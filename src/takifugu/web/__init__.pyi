from takifugu.web.server import browser_door as browser_door
from takifugu.web.server import serve as serve

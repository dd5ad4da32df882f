from takifugu.audits.auditing import audit as audit
from takifugu.audits.outcome import Attack as Attack
from takifugu.audits.outcome import Audit as Audit

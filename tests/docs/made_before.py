"""What every process makes once before it draws noise, made before the examples are forked."""

from takifugu.channels.rounded_draws import NORMAL, table_of

table_of(NORMAL)

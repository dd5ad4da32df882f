"""What every process makes once before it draws noise, made before the examples are forked."""

from takifugu.channels.gaussian_sampler import normal_table

normal_table()

from takifugu.dependence.chains import Count as Count
from takifugu.dependence.chains import MarkovChain as MarkovChain
from takifugu.dependence.chains import Total as Total
from takifugu.dependence.groups import Group as Group
from takifugu.dependence.quilts import MarkovQuilt as MarkovQuilt

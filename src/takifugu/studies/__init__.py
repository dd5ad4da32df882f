"""The paper's evaluation, figure by figure: what holds, what does not, and how much better exact is."""

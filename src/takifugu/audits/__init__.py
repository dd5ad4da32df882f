"""Attacks on a release by its owner, who has the truth: what an adversary could have learned."""

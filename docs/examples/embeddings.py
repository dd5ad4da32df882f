"""Embeddings of people in two groups, with the group hidden in them."""

import numpy as np
import pandas as pd

import takifugu as tk

rng = np.random.default_rng(0)
group = rng.choice(["a", "b"], 2_000)
vectors = rng.normal(size=(2_000, 3)) + np.outer(group == "b", [1.0, 0.5, 0.0])
table = pd.DataFrame(vectors, columns=["v1", "v2", "v3"]).assign(group=group)

query = tk.Raw(["v1", "v2", "v3"], prior="gaussian")
priors = tk.fit_priors(table, secret="group", query=query)
made = tk.calibrate(priors, alpha=3, epsilon=0.5)  # noise of the shape that costs least
published = tk.release(table, made)
spread = np.sqrt(np.diag(made.channel.covariance))
print("noise on each axis:", *(f"{one:.2f}" for one in spread))
print(f"{len(published):,} vectors published")

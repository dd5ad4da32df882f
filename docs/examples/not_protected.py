import takifugu as tk


def loss(belief, theta):
    return tk.renyi_divergence(belief["a"], belief["b"], alpha=3, theta=theta)


believed = {"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(1, 1)}
theta = tk.calibrate(believed, alpha=3, epsilon=1).theta
print(f"as believed: {loss(believed, theta):.2f}, within the budget of 1")

knows_more = {"a": tk.Mixture.gaussian(0, 0.2), "b": tk.Mixture.gaussian(1, 0.2)}
print(f"an adversary who knows more: {loss(knows_more, theta):.2f}")

# Records that share a secret, and are independent given it: their losses add up.
print(f"five relatives with one secret between them: {5 * loss(believed, theta):.2f}")

import takifugu as tk


def loss(p, q, theta):
    return tk.renyi_divergence(p, q, alpha=3, theta=theta)


believed = {"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(1, 1)}
theta = tk.calibrate(believed, alpha=3, epsilon=1).theta
print(f"θ = {theta:.3f}: loss {loss(believed['a'], believed['b'], theta):.2f}, within the budget of 1")

knows_more = {"a": tk.Mixture.gaussian(0, 0.2), "b": tk.Mixture.gaussian(1, 0.2)}
print(f"an adversary who knows more than the prior says: {loss(knows_more['a'], knows_more['b'], theta):.2f}")

family = 5  # five records that share the secret and are independent given it: divergences add
print(f"five relatives with one secret between them: {family * loss(believed['a'], believed['b'], theta):.2f}")

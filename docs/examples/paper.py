import takifugu as tk

no = tk.Mixture([0.7, 0.3], [10, 13], [3, 2])
yes = tk.Mixture.gaussian(9.4, 2.8)
priors = {"no": no, "yes": yes}
goal = tk.Renyi(alpha=3, epsilon=0.2)
noise = tk.calibrate(priors, goal)
tk.certify(noise).save("proof.json")
print(f"θ = {noise.theta:.4f}")

import takifugu as tk

print("| α | ε | odds × once in 20 | odds × once in 1000 | best guess |")
print("|---|---|---|---|---|")
for alpha in (2, 3, 8, 32):
    for epsilon in (0.1, 0.5, 1, 2):
        promise = {"alpha": alpha, "epsilon": epsilon}
        rare = tk.odds_factor(**promise, chance=1 / 20)
        rarer = tk.odds_factor(**promise, chance=1 / 1000)
        guess = tk.best_guess(**promise)
        row = f"{rare:.1f} | {rarer:,.1f} | {100 * guess:.1f} %"
        print(f"| {alpha} | {epsilon} | {row} |")

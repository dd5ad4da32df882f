import takifugu as tk

pupils = tk.datasets.load("student-por")  # who gets extra support is the secret
priors = tk.fit_priors(pupils, secret="schoolsup", query=tk.Raw("G3"))
calibration = tk.calibrate(priors, alpha=3, epsilon=1)
print(calibration)

tk.certify(calibration).save("proof.json")  # for the auditor: it holds the priors
tk.verify("proof.json")  # proves it again, from the file alone
ledger = tk.Ledger("ledger.db")  # remembers what was published
noisy = tk.release(pupils, calibration, column="G3", secret="schoolsup", ledger=ledger)
print(f"{len(noisy)} final grades published with noise, and no other column")

import takifugu as tk

people = tk.datasets.load("adult")
priors = tk.fit_priors(people, secret="race", query=tk.Raw("education-num"), secrets=["White", "Other"])
calibration = tk.calibrate(priors, alpha=3, epsilon=1)
print(calibration)

tk.certify(calibration).save("certificate.json")  # for the auditor: it holds the priors
tk.verify("certificate.json")  # proves it again, from the file alone
column = {"column": "education-num", "secret": "race", "others": "drop"}  # drop those of other races
print(len(tk.release(people, calibration, **column, ledger="ledger.db")), "noisy values published")

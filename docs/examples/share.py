import takifugu as tk

marks = tk.datasets.load("student-mat")
secret = tk.Share("sex", "F", [0.3, 0.5])
priors = tk.fit_priors(marks, secret=secret, query=tk.Mean("G3"))
for finding in priors.findings:
    print(finding)

calibration = tk.calibrate(priors, odds=3)
print(calibration)
print(tk.verify(tk.certify(calibration)).claim)
published = tk.release(marks, calibration, ledger="share.ledger")
print(f"{len(published)} number published")

supported = tk.Count("yes", column="schoolsup")
counted = tk.calibrate(tk.fit_priors(marks, secret=secret, query=supported), odds=3)
print(f"of a count: standard deviation {counted.channel.std:.3g} of 395")

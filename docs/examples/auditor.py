import takifugu as tk
from takifugu.certificates import RedactedCertificate

patients = tk.datasets.load("heart")
priors = tk.fit_priors(
    patients, secret="slope", query=tk.Raw("oldpeak"), secrets=[1, 3]
)
calibration = tk.calibrate(priors, alpha=8, epsilon=1)

certificate = tk.certify(calibration)
certificate.save("certificate.json")  # for the auditor
certificate.redacted().save("public.json")  # for everyone

# What the auditor does, with nothing but the two files:
proved = tk.verify("certificate.json")
proved.require_match(RedactedCertificate.load("public.json"))
for (_, first, second), loss in zip(proved.places, proved.losses, strict=True):
    a, b = proved.secrets[first], proved.secrets[second]
    bounds = f"between {loss.lower:.9f} and {loss.upper:.9f}"
    print(f"{a} against {b}: {bounds}, budget {proved.epsilon}")

import takifugu as tk

tk.datasets.load("adult").to_csv(
    "people.csv", index=False
)  # stands for a file of yours

made = tk.publish(
    "people.csv",
    secret="race",
    columns=["sex", "workclass"],
    odds=3,
    ledger="people.ledger",
)
print(made)
print()
for finding in made.findings:
    print(f"{finding.level}: {finding}")

made.save("published.csv")  # public
made.certificate.redacted().save("public.json")  # public: promise and channel
made.certificate.save("certificate.json")  # private, for an auditor
made.calibration.save("calibration.json")  # private
made.save_positions("positions.csv")  # private: which row stands where, to audit

try:
    tk.publish("people.csv", secret="race", columns=["income"], ledger="people.ledger")
except tk.TakifuguError as refusal:
    print(f"\nA second time, {type(refusal).__name__}: {refusal}")

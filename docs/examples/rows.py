import takifugu as tk

people = tk.datasets.load("adult").dropna(subset=["workclass"])
query = tk.Row(
    "hours-per-week",
    "workclass",
    domain={
        "hours-per-week": [20, 30, 40, 50, 60],  # numbers go to the nearest
        "workclass": ["Private", "Self-emp-not-inc", "Local-gov", "Other"],
    },
    other={"workclass": "Other"},  # what every other label becomes
)
priors = tk.fit_priors(
    people, secret="race", query=query, secrets=["White", "Black", "Asian-Pac-Islander"]
)
calibration = tk.calibrate(priors, odds=3, confidence=0.95)
channel = calibration.channel
print(f"{len(channel.inputs)} rows are possible, such as {channel.inputs[0]}")
lost, least = calibration.error, calibration.lower_bound
print(f"expected loss {lost:.5f}; no channel loses less than {least:.5f}")
for sentence in channel.sentences(most=3):
    print(sentence)

published = tk.release(people, calibration, others="drop", ledger="people.ledger")
print(list(published.columns), f"{len(published):,} rows")

import takifugu as tk

# Whoever publishes asks to keep shares, so that plain counting stays right.
people = tk.datasets.load("adult").query("race in ['White', 'Black']")
columns = ["education-num", "marital-status"]
hide = {"secret": "race", "columns": columns, "odds": 3, "keep_shares": True}
made = tk.publish(people, **hide)
made.save("published.csv")
made.certificate.redacted().save("public.json")

# Analysts have the two public files and nothing else.
found = tk.estimate("published.csv", "public.json")
mean = found.mean("education-num")
married = found.histogram("marital-status").shares["Married-civ-spouse"]
line = found.regression("education-num", on="marital-status")
never = line["marital-status = Never-married"]

# Only we know the truth.
years, status = people["education-num"], people["marital-status"]
part = years[status == "Never-married"].mean()
base = years[status == "Divorced"].mean()  # the first by name
truth = (years.mean(), (status == "Married-civ-spouse").mean(), part - base)
names, estimates = ("mean", "share", "slope"), (mean, married, never)
for name, one, true in zip(names, estimates, truth, strict=True):
    off = abs(one.value - true)
    assert off < 6 * one.from_channel
    print(f"{name}: true {true:.2f}, off by less than 0.1: {off < 0.1}")

import takifugu as tk

# Shares are preserved by default, so that plain counting stays right.
people = tk.datasets.load("adult").query("race in ['White', 'Black']")
columns = ["education-num", "income"]
hide = {"secret": "race", "columns": columns, "odds": 3}
made = tk.publish(people, **hide)
made.save("published.csv")
made.certificate.redacted().save("public.json")

# Analysts have the two public files and nothing else.
found = tk.estimate("published.csv", "public.json")
mean = found.mean("education-num")
rich = found.histogram("income").shares[">50K"]
more = found.regression("education-num", on="income")["income = >50K"]

# Only we know the truth.
years, is_rich = people["education-num"], people["income"] == ">50K"
gap = years[is_rich].mean() - years[~is_rich].mean()
truth = (years.mean(), is_rich.mean(), gap)
names, estimates = ("mean", "share", "slope"), (mean, rich, more)
for name, one, true in zip(names, estimates, truth, strict=True):
    off = abs(one.value - true)
    assert off < 6 * one.from_channel
    print(f"{name}: true {true:.2f}, off by less than 0.1: {off < 0.1}")

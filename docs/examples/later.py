import takifugu as tk

people = tk.datasets.load("adult")
people = people[people["race"].isin(["White", "Black"])].reset_index(drop=True)
asked = {"secret": "race", "ledger": "people.ledger"}
hours = {"hours-per-week": [20, 30, 40, 50, 60]}

# This year one column leaves. Another may follow: the account is opened for both.
later = ["hours-per-week"]
years = ["education-num"]
first = tk.publish(people, columns=years, later=later, domain=hours, **asked)
account = tk.Ledger("people.ledger").account()
print(f"{account.fraction_spent:.0%} is spent, {', '.join(account.left)} may follow")

# Next year the other one leaves. Both together stay within the odds of 3.
second = tk.publish(people, columns=later, **asked)
print(list(first.table.columns), list(second.table.columns))
print(f"both together are within odds of {second.calibration.guarantee.most_odds:.3g}")
print(next(said for said in second.summary.details if "published before" in said))

try:
    tk.publish(people, columns=years, **asked)
except tk.BudgetError as error:
    print(error)

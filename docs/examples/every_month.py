import numpy as np

import takifugu as tk

people = tk.datasets.load("adult")
people = people[people["race"].isin(["White", "Black"])].head(20_000)
people.insert(0, "nr", np.arange(20_000))  # tells people apart; is not published
people.head(15_000).to_csv("people.csv", index=False)
hide = {"secret": "race", "columns": ["education-num"]}

january = tk.publish("people.csv", **hide, id="nr", ledger="people.ledger")
print(f"January: {len(january.table):,} rows")

# In February others are in the file too. It was sorted anew, and has another name.
people.sort_values("age").to_parquet("people-2.parquet")
try:
    tk.publish("people-2.parquet", **hide, ledger="people.ledger")
except tk.BudgetError as error:
    print(error)

appended = tk.Ledger("people.ledger", only_new=True)
february = tk.publish("people-2.parquet", **hide, ledger=appended)
print(f"February: {len(february.table):,} rows")

import numpy as np

import takifugu as tk

people = tk.datasets.load("adult")
people = people[people["race"].isin(["White", "Black"])].head(20_000)
people.insert(0, "nr", np.arange(20_000))
# Public lists, which were not read from these rows.
lists = {"race": ["White", "Black"], "education-num": list(range(1, 17))}
hide = {"secret": "race", "columns": ["education-num"], "domain": lists}
ledger = tk.Ledger("people.ledger", id="nr")

january = tk.publish(people.head(15_000), **hide, ledger=ledger, private_fit=0.2)
print(january.statement.sentences[0])
print(january.statement.sentences[3])

# Everything that anybody needs to prove it is in this file.
january.statement.save("published-statement.json")
proved = tk.verify("published-statement.json")
assert proved.calibration.channel == january.calibration.channel

# In February others come. The channel is there already, and tells nothing of them.
february = tk.release(people.tail(5_000), january.calibration, ledger=ledger)
print(f"February: {len(february):,} rows through the same channel")

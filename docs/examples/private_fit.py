import numpy as np

import takifugu as tk

people = tk.datasets.load("adult")
people = people[people["race"].isin(["White", "Black"])].head(20_000)
people.insert(0, "nr", np.arange(20_000))
lists = {"race": ["White", "Black"], "education-num": list(range(1, 17))}  # public: not read from these rows
hide = {"secret": "race", "columns": ["education-num"], "domain": lists, "ledger": "people.ledger"}

january = tk.publish(people.head(15_000), **hide, id="nr", private_fit=0.2)
print(january.statement.sentences[0])
print(january.statement.sentences[3])

# Everything that anybody needs to prove it is in this file.
january.statement.save("published-statement.json")
assert tk.verify("published-statement.json").calibration.channel == january.calibration.channel

# In February others come. The channel is there already: it is fitted to none of them, and tells nothing of them.
new = people.tail(5_000)
february = tk.release(new, january.calibration, ledger="people.ledger")
print(f"February: {len(february):,} rows through the same channel")

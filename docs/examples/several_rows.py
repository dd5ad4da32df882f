import numpy as np
import pandas as pd

import takifugu as tk

chance = np.random.default_rng(0)
nr, ill, coin = np.arange(2_000), *chance.integers(0, 2, (2, 2_000))
tests = (coin, coin ^ ill)
visits = [pd.DataFrame({"nr": nr, "ill": ill, "test": test}) for test in tests]
hide = {"secret": "ill", "confidence": None, "odds": 3}

# Row by row nothing has to be hidden; both rows of a person give the secret away.
rows = tk.publish(
    pd.concat(visits), columns=["test"], utility=tk.Utility(allow_no_noise=True), **hide
)
print(f"row by row {rows.calibration.error:.0%} of the cells change")
try:
    tk.publish(pd.concat(visits), columns=["test"], id="nr", **hide)
except tk.InputError as error:
    print(error)

person = visits[0].merge(visits[1], on=["nr", "ill"], suffixes=("_first", "_second"))
made = tk.publish(person, columns=["test_first", "test_second"], id="nr", **hide)
print(made.summary.sentences[1])

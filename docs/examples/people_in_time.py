from pathlib import Path

import pandas as pd

import takifugu as tk

work = pd.read_csv(Path(__file__).with_name("data") / "union.csv.gz")
men = sorted(work["man"].unique())
others = work[work["man"].isin(men[:200])]  # a study before, say
rows = work[~work["man"].isin(men[:200])]

chain = tk.MarkovChain.fit(others, state="union", time="year", by="man")
print([round(float(row[1]), 3) for row in chain.transition])  # P(member | last year)

priors = chain.priors(8, tk.Count(1))  # years in a union, given one year
calibration = tk.calibrate(priors, odds=3)
for finding in calibration.findings:
    print(finding)
print(calibration)

years = rows.groupby("man")["union"].sum()
shuffled = years.sample(frac=1).to_numpy()
published = tk.release(shuffled, calibration, order="keep", ledger="years.ledger")
print(f"{len(published)} numbers of years published")

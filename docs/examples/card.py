import datetime

import takifugu as tk
from takifugu.audits.outcome import release_card

pupils = tk.datasets.load("student-por")
priors = tk.fit_priors(pupils, secret="schoolsup", query=tk.Row("G3"))
calibration = tk.calibrate(priors, odds=3, confidence=0.95)
published = tk.release(pupils, calibration)

card = release_card(
    calibration,
    title="Grades in Portuguese, 2014",
    publisher="Two secondary schools",
    date=datetime.date(2026, 3, 9),
    rows=len(published),
)
print(card)

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import takifugu as tk

grades = tk.datasets.load("student-por")
publish = make_pipeline(
    FunctionTransformer(lambda marks: 5 * marks),  # from 0..20 to 0..100
    tk.ReleaseTransformer(alpha=3, epsilon=1, clip=(0, 100), ledger="grades.ledger"),
)
published = publish.fit_transform(grades[["G3"]].to_numpy(), grades["schoolsup"])
theta = publish[-1].calibration_.theta
print(f"{len(published)} marks published, θ = {theta:.2f} points of 100")

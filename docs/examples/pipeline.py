import sklearn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import takifugu as tk

sklearn.set_config(enable_metadata_routing=True)  # so that the secret finds its step
grades = tk.datasets.load("student-por")
noise = tk.ReleaseTransformer(alpha=8, epsilon=1, clip=(0, 100), ledger="grades.ledger")
publish = make_pipeline(
    FunctionTransformer(lambda marks: 5 * marks),  # from 0..20 to 0..100
    noise.set_fit_request(secret=True),
)
marks = grades[["G3"]].to_numpy()
published = publish.fit_transform(marks, secret=grades["schoolsup"])
theta = publish[-1].calibration_.theta
print(f"{len(published)} marks published, θ = {theta:.2f} points of 100")

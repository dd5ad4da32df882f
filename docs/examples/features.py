"""Features for a model, with the sex of each person hidden in them."""

import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import takifugu as tk

sklearn.set_config(enable_metadata_routing=True)  # so that the secret finds its step
people = tk.datasets.load("adult").sample(frac=1, random_state=0)  # no order that tells
people = people.reset_index(drop=True)
columns = ["marital-status", "education-num"]
hide = tk.PublishTransformer(guarantee=tk.Odds(2)).set_fit_request(secret=True)
model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression())

published = hide.fit(people[columns], secret=people["sex"]).transform(people[columns])
for what, table in {"true": people[columns], "published": published}.items():
    income = cross_val_score(model, table, people["income"], cv=3).mean()
    sex = cross_val_score(
        model, table, people["sex"], cv=3, scoring="balanced_accuracy"
    )
    print(f"{what}: income {income:.2f}, sex {sex.mean():.2f}")

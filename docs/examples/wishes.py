import takifugu as tk

pupils = tk.datasets.load("student-por")
marks = [0, 5, 10, 15, 20]
query = tk.Row("G3", domain={"G3": marks})
priors = tk.fit_priors(pupils, secret="schoolsup", query=query)

# No mark moves by more than one step, and four in five stay.
far = [(a, b) for a in marks for b in marks if abs(a - b) > 5]
found = tk.calibrate(
    priors, odds=2, preserve=None, utility=tk.Utility(forbidden=far, diagonal=0.8)
)
print(f"off by {found.error**0.5:.2f}; none by less than {found.lower_bound**0.5:.2f}")
for sentence in found.channel.sentences(most=3):
    print(sentence)

try:
    tk.calibrate(
        priors, odds=2, preserve=None, utility=tk.Utility(forbidden=far, diagonal=0.99)
    )
except tk.TakifuguError as error:
    print(error)

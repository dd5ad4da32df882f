import takifugu as tk

pupils = tk.datasets.load("student-por")
# A survey that is public already, and a small table of other pupils.
survey, school = pupils.head(400), pupils.tail(249)

made = tk.publish(
    school,
    secret="schoolsup",
    columns=["G3"],
    domain={"G3": list(range(0, 21, 2))},
    adversary=tk.Adversary(beliefs={"survey": survey}, own=False),
    ledger="school.ledger",
)
print(f"{len(made.table)} rows")
print(made.statement.sentences[0])
print(made.statement.sentences[3])

# Priors, channel and proof are in the public file, and none of them tells of the 249.
made.statement.save("school-statement.json")
proved = tk.verify("school-statement.json")
assert proved.calibration.channel == made.calibration.channel

import takifugu as tk

cols = ["marital-status", "education-num"]
made = tk.publish(
    "adult",
    secret="sex",
    columns=cols,
    odds=3,
)
print(made)
made.save("published.csv")  # public
made.certificate.save("proof.json")
tk.verify("proof.json")  # from it alone

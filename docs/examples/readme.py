import takifugu as tk

columns = ["marital-status", "education-num"]
made = tk.publish("adult", secret="sex", columns=columns, odds=3)
print(made)  # what was hidden, and what it cost
made.save("published.csv")  # for everyone
made.certificate.save("certificate.json")  # for an auditor: it holds the priors
tk.verify("certificate.json")  # proves it again, from the file alone

import takifugu as tk

people = tk.datasets.load("adult")  # a census; race is the secret
groups = ["White", "Black", "Asian-Pac-Islander"]  # too few rows in the others
hide = {"secret": "race", "secrets": groups, "odds": 3, "others": "drop"}
made = tk.publish(people, columns=["education-num", "marital-status"], **hide)
print(made)

made.save("published.csv")  # for everyone
made.certificate.save("certificate.json")  # for an auditor: it holds the priors
tk.verify("certificate.json")  # proves it again, from the file alone

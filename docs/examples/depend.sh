echo '{"transition": [[0.8, 0.2], [0.4, 0.6]], "states": ["out", "home"]}' > chain.json
takifugu depend --chain chain.json --length 96 --dp-epsilon 0.5 \
    --ledger days.ledger --certificate certificate.json
takifugu depend --chain chain.json --length 96 --dp-epsilon 0.25 \
    --ledger days.ledger
takifugu verify certificate.json

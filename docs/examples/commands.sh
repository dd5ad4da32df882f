takifugu calibrate marks.csv --secret schoolsup --pair no yes --query raw:G3 \
    --alpha 3 --epsilon 1 --json > calibration.json
takifugu certify calibration.json --output certificate.json --public public.json
takifugu verify certificate.json --public public.json
takifugu release marks.csv published.csv --calibration calibration.json \
    --column G3 --secret schoolsup --clip 0 20 --round-to 1 --ledger marks.ledger
head -n 1 published.csv

takifugu calibrate marks.csv --secret schoolsup --query row:studytime \
    --odds 3 --confidence 0.95 --json > calibration.json
takifugu certify calibration.json --output certificate.json --public public.json
takifugu verify certificate.json --public public.json
takifugu release marks.csv published.csv --calibration calibration.json \
    --ledger marks.ledger
head -n 1 published.csv

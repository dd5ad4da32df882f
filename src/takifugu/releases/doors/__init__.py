"""The ways in and out of a release: arrays, dataframes, files, Spark and scikit-learn."""

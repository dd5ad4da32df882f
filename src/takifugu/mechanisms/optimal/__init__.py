"""The channel that costs least among all that keep the promise, and the proof that none costs less."""

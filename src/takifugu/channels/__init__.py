"""What happens to a value before it is published."""

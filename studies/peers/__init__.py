"""What others would use instead, on the same columns, at the same protection."""

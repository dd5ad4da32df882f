"""Files that outlive a process: strict JSON, and the fields of what is written in it."""

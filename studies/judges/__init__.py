"""Attackers and judges that others wrote, set on what is published here and by other ways."""

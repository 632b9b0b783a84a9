"""What belongs to a visitor: the token, files and their expiry, what can be deleted."""

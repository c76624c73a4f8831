"""What was changed: undo, expiry and records."""

"""Optional parts: each can be left out of an installation."""

"""What the offline provider can do: facts for command templates, and answers in words."""

"""Secrets: which options and forms hold one, how they are hidden, and what stands for them."""

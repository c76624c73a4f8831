"""UCI commands as text to typed operations."""

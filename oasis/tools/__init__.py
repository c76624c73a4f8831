"""The registry of tools, the built-in ones, and how they are called."""

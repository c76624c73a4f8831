"""Sentences: tokens, concepts, slots, frames and patterns, the same for every language."""

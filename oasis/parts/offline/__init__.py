"""Answers without a model and without a network: the most asked requests, understood from data.

The daemon asks through process.py and never loads the rest: what understands is provider.py, in a process of its own.
"""

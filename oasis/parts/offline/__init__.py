"""Answers without a model and without a network: the most asked requests, understood from data.

The daemon asks through child_process.py; what understands is provider.py, in a process of its own, which alone loads
the rest.
"""

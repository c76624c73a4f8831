"""Answers without a model and without a network: the most asked requests, understood from data.

`reply(messages, facts, now_s)` returns the normalized events of one answer; see provider.py.
"""

from oasis.offline.provider import reply

__all__ = ["reply"]

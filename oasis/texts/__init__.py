"""Texts of the service in the languages of people; see translation.py."""

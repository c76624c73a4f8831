"""Apply a plan: transaction, journal, services, verification, proof of life."""

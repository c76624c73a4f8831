"""Will the owner still reach the router after a staged change? Begin in verdict.py; nothing here touches the system."""

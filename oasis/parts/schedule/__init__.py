"""What Oasis does by itself: at a time, again and again, or when something happened on the router."""

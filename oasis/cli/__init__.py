"""What people and programs talk to Oasis through; every one of them serves or calls the same method table."""

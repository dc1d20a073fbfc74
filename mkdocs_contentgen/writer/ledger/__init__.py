"""The ledger of the served writer: users, Idempotency-Keys with their answers, and usage."""

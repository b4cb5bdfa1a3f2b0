"""The two programs that call candidate code inside the sandbox: read as text, never imported."""

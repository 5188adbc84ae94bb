"""The command line. It holds no arithmetic: each command calls the curator and shows what comes back."""

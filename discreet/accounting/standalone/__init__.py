"""Programs that need nothing of Discreet: copy the file and run it with Python and the library `cryptography`."""

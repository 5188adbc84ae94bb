"""What each way of protecting promises, and which demands on a promise it meets or fails, found out anew each time."""

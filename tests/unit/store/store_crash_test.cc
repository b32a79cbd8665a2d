// placeholder for crash tests.

LIMIT = 4
NEVER = {"stolen", "expired"}


def should_retry(error, attempt):
    return error not in NEVER and attempt < LIMIT

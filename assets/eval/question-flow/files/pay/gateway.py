from pay.policy import should_retry


def charge(card, amount, send):
    attempt = 1
    while True:
        error = send(card, amount)
        if error is None:
            return attempt
        if not should_retry(error, attempt):
            raise RuntimeError(error)
        attempt += 1

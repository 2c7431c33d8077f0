def should_report(error):
    return error != "declined"

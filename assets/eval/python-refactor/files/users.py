def user_name(name):
    name = name.strip()
    name = " ".join(name.split())
    return name.title()

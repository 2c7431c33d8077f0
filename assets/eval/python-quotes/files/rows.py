def split(line):
    """The fields of a line of CSV."""
    fields, field, quoted = [], "", False
    for char in line:
        if char == '"':
            quoted = not quoted
        elif char == "," and not quoted:
            fields.append(field)
            field = ""
        else:
            field += char
    return fields + [field]

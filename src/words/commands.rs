//! Words of `commands`.

words! { "commands":
}

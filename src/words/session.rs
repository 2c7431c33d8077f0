//! Words of `session`.

words! { "session":
}

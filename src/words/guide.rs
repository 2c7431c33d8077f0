//! Words of `guide`.

words! { "guide":
}

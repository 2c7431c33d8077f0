//! Words of `cli`.

words! { "cli":
}

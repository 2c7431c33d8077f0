//! Words of `screen`.

words! { "screen":
}

//! Words of `config`.

words! { "config":
}

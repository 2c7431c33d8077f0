//! Words of `exec`.

words! { "exec":
}

//! Words of `protocol`.

words! { "protocol":
}

//! Words of `safety`.

words! { "safety":
}

//! Words of `model`.

words! { "model":
}

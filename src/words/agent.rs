//! Words of `agent`.

words! { "agent":
}

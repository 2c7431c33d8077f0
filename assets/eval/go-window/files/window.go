package window

// Last returns the last n values, all of them if there are fewer.
func Last(values []int, n int) []int {
	return values[len(values)-n:]
}

package window

import "testing"

func TestFewerValues(t *testing.T) {
	if got := Last([]int{1, 2}, 5); len(got) != 2 {
		t.Fatalf("got %v", got)
	}
}

func TestItIsACopy(t *testing.T) {
	values := []int{1, 2, 3}
	last := Last(values, 2)
	values[2] = 9
	if last[0] != 2 || last[1] != 3 {
		t.Fatalf("got %v", last)
	}
}

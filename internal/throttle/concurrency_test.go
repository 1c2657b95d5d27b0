package throttle

import (
	"fmt"
	"testing"
)

func TestConcurrency(t *testing.T) {
	c := NewConcurrency(16, 2)
	var leave []func()
	for i := range 16 {
		key := fmt.Sprint(i / 2)
		out, _ := c.Acquire(key)
		if out == nil {
			t.Fatalf("%d is rejected", i)
		}
		leave = append(leave, out)
		switch third, own := c.Acquire(key); {
		case i%2 == 1 && (third != nil || !own):
			t.Errorf("a third place of one key: own %v", own)
		case i%2 == 0 && third != nil:
			third()
		}
	}
	if out, own := c.Acquire("another"); out != nil || own {
		t.Errorf("a seventeenth place: own %v", own)
	}
	for _, out := range leave {
		out()
	}
	if c.all != 0 || len(c.byKey) != 0 {
		t.Errorf("%d are left, of %v", c.all, c.byKey)
	}
}

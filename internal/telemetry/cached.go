package telemetry

import (
	"context"
	"sync"
	"time"
)

// cached holds a result that is expensive to read. The zero value is empty.
type cached[T any] struct {
	mu    sync.Mutex
	until time.Time
	value T
	err   error
}

// read returns the result of the last few seconds, or reads it.
func (c *cached[T]) read(read func(context.Context) (T, error)) (T, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Now().Before(c.until) {
		return c.value, c.err
	}
	ctx, cancel := context.WithTimeout(context.Background(), sourceTimeout)
	defer cancel()
	c.value, c.err = read(ctx)
	c.until = time.Now().Add(sourceMaxAge)
	return c.value, c.err
}

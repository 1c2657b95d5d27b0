package main

import (
	"github.com/postern-id/postern/internal/delivery"
)

// deliveries is the queue of what is sent to others.
func (h *house) deliveries() delivery.Queue {
	return delivery.Queue{Store: h.store, Log: h.log, Senders: map[string]delivery.Sender{}}
}

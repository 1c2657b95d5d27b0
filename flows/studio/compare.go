package studio

import (
	"fmt"

	"github.com/postern-id/postern/flows/diff"
)

// Versions are the texts of two flows.
type Versions struct {
	Before Source `json:"before"`
	After  Source `json:"after"`
}

// Difference is a change of the meaning of a flow, and the same in words.
type Difference struct {
	diff.Change
	Text string `json:"text"`
}

// Compare returns the changes of the meaning from one flow to another: see package diff.
func (s *Studio) Compare(v Versions) ([]Difference, error) {
	before, err := s.graph(v.Before)
	if err != nil {
		return nil, fmt.Errorf("the first version: %w", err)
	}
	after, err := s.graph(v.After)
	if err != nil {
		return nil, fmt.Errorf("the second version: %w", err)
	}
	list := []Difference{}
	for _, c := range diff.Compare(before, after) {
		list = append(list, Difference{c, c.String()})
	}
	return list, nil
}

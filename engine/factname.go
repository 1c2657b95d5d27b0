package engine

// Describe writes the fact as an author reads it: "an authenticated user".
func (f Fact) Describe() string { return factNames([]Fact{f}) }

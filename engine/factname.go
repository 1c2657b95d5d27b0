package engine

// Describe returns the fact in words: "an authenticated user".
func (f Fact) Describe() string { return factNames([]Fact{f}) }

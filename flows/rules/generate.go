package rules

//go:generate go run ../../cmd/postern flow explain --markdown --output ../../docs/rules.md

// Package expr is what the expressions of flows and of claims have in common: CEL's standard functions with limits,
// and the values of attributes and permissions.
package expr

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/env"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/postern-id/postern/schemas"
)

// maxRegexProgram limits the size of a regular expression. RE2 takes time in proportion to the size and
// to the length of the text, and a pattern can be the input of a user.
const maxRegexProgram = 1000

// StandardEnv is CEL's standard environment. Its function matches has this limit. The limit of the
// library (cel.RegexProgramSizeLimit) panics on a counted repetition, such as in [0-9]{4}.
var StandardEnv = sync.OnceValue(func() *cel.Env {
	arguments := []*cel.Type{cel.StringType, cel.StringType}
	return must(cel.NewCustomEnv(
		cel.StdLib(cel.StdLibSubset(&env.LibrarySubset{ExcludeFunctions: []*env.Function{{Name: overloads.Matches}}})),
		cel.Function(overloads.Matches,
			cel.Overload(overloads.Matches, arguments, cel.BoolType),
			cel.MemberOverload(overloads.MatchesString, arguments, cel.BoolType),
			cel.SingletonBinaryBinding(matchLimited)),
		cel.ASTValidators(patternLimit{}),
	))
})

// matchLimited reports whether a part of the text matches the pattern.
func matchLimited(text, pattern ref.Val) ref.Val {
	written, ok := pattern.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(pattern)
	}
	read, ok := text.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(text)
	}
	if err := CheckPattern(string(written)); err != nil {
		return types.WrapErr(err)
	}
	compiled, err := regexp.Compile(string(written))
	if err != nil {
		return types.WrapErr(err)
	}
	return types.Bool(compiled.MatchString(string(read)))
}

// MaxRanges limits the ranges of all classes, each as often as it is repeated. \pL has 650.
const MaxRanges = 100_000

// CheckPattern returns an error for a pattern that is invalid or too large.
func CheckPattern(pattern string) error {
	if err := schemas.CheckPatternText(pattern); err != nil {
		return err
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return err
	}
	if n := RangesOf(parsed); n > MaxRanges {
		return fmt.Errorf("the regular expression repeats classes of %d ranges of characters, expected at most %d; repeat smaller classes, or less", n, MaxRanges)
	}
	if n := SizeOf(parsed); n > maxRegexProgram {
		return fmt.Errorf("the regular expression has the size %d, expected at most %d; repeat fewer characters", n, maxRegexProgram)
	}
	return nil
}

// SizeOf returns about how many instructions a pattern is compiled to. The parser limits the
// product of nested repetitions.
func SizeOf(re *syntax.Regexp) int {
	parts := 0
	for _, part := range re.Sub {
		parts += SizeOf(part)
	}
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpConcat:
		return parts
	case syntax.OpCapture:
		return parts + 2 // the start and the end
	case syntax.OpAlternate:
		return parts + len(re.Sub)
	case syntax.OpRepeat:
		return parts*max(re.Min, re.Max, 1) + max(re.Max-re.Min, 1) // and one for each that can be absent
	}
	return parts + 1
}

// RangesOf returns how many ranges the classes of a pattern have where they are compiled.
func RangesOf(re *syntax.Regexp) int {
	n := 0
	for _, part := range re.Sub {
		n += RangesOf(part)
	}
	switch re.Op {
	case syntax.OpCharClass:
		return len(re.Rune) / 2
	case syntax.OpRepeat:
		return n * max(re.Min, re.Max, 1)
	}
	return n
}

// patternLimit checks the patterns that are literals when an expression is compiled.
type patternLimit struct{}

// Name implements cel.ASTValidator.
func (patternLimit) Name() string { return "postern.pattern_limit" }

// Validate implements cel.ASTValidator.
func (patternLimit) Validate(_ *cel.Env, _ cel.ValidatorConfig, a *ast.AST, issues *cel.Issues) {
	for _, call := range ast.MatchDescendants(ast.NavigateAST(a), ast.FunctionMatcher(overloads.Matches)) {
		arguments := call.AsCall().Args()
		if len(arguments) == 0 || arguments[len(arguments)-1].Kind() != ast.LiteralKind {
			continue
		}
		written := arguments[len(arguments)-1]
		pattern, ok := written.AsLiteral().Value().(string)
		if !ok {
			continue
		}
		if err := CheckPattern(pattern); err != nil {
			issues.ReportErrorAtID(written.ID(), "invalid matches argument: %v", err)
		}
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

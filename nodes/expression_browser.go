package nodes

import (
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// Known browsers in expressions
//
// user.knowsBrowser("mfa") is whether the user has signed in with the browser, and proved two factors
// then. The strength is part of the question: an attacker who knows the password can make any browser
// known for a password, by a sign-in where a password is enough.
//
// The member user.knowsBrowser asks for no strength. It is true only if an attacker with the password
// could not have made it true: for a user with a second factor or a passkey the browser must be known
// for two factors or a passkey.

const (
	knowsBrowserFunction = "knowsBrowser"
	// knowsBrowserFor is the member of user that the function reads.
	knowsBrowserFor = "knowsBrowser()"
)

// knowsBrowserOption declares the function user.knowsBrowser(strength).
func knowsBrowserOption(user *cel.Type) cel.EnvOption {
	return cel.Function(knowsBrowserFunction, cel.MemberOverload("user_knows_browser", []*cel.Type{user, cel.StringType}, cel.BoolType,
		cel.BinaryBinding(func(user, strength ref.Val) ref.Val {
			view, isUser := user.Value().(userView)
			name, isText := strength.Value().(string)
			wanted, ok := schemas.ParseKnownFor(name)
			return types.Bool(isUser && isText && ok && slices.Contains(view.knownFor, wanted))
		})))
}

// asksForBrowser recognizes user.knowsBrowser(strength).
func asksForBrowser(e ast.Expr) bool {
	call := e.AsCall()
	return call.IsMemberFunction() && call.FunctionName() == knowsBrowserFunction && isIdent(call.Target(), "user")
}

// walkBrowser visits user.knowsBrowser(strength). A strength that is known only at run time could be
// misspelled, and then no browser would be known.
func (w *expressionWalker) walkBrowser(e ast.Expr, given engine.Facts) {
	w.useUser(e.AsCall().Target(), knowsBrowserFor, given.Has(engine.User))
	name, isLiteral := literal(e.AsCall().Args()[0])
	if _, ok := schemas.ParseKnownFor(name); ok {
		return
	}
	what := fmt.Sprintf("a browser is not known for %q", name)
	if !isLiteral {
		what = "what the browser must be known for is known only at run time, so it cannot be checked"
	}
	w.faults = append(w.faults, fault{at: w.at(e), message: what + "; write one of " + strings.Join(schemas.KnownFor(), ", ") + " in quotes"})
}

// warnOfBrowser warns of the member user.knowsBrowser, which does not state a strength.
func (w *expressionWalker) warnOfBrowser(e ast.Expr) {
	if e.AsSelect().FieldName() == knowsBrowserFunction {
		w.faults = append(w.faults, fault{at: w.at(e), rule: engine.RuleBrowser, warning: true, message: "it does not state what the browser must be known for: " +
			`of a user with a second factor or a passkey, two factors or a passkey; write user.knowsBrowser("mfa"), or another strength`})
	}
}

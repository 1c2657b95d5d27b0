package nodes

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// attestedAttribute reports whether the server decides the attribute: whether an address is
// verified.
func attestedAttribute(attribute string) bool {
	return attribute == "email_verified" || attribute == "phone_number_verified"
}

// checkNames finds identifying attributes among the given ones that are not allowed, or that belong
// to another user. The path of a problem is the attribute.
func (d Deps) checkNames(ctx context.Context, user *schemas.User, given map[string]any) (unfit, taken []schemas.Problem, err error) {
	for _, attribute := range schemas.IdentifyingAttributes() {
		value := user.Text(attribute)
		if _, is := given[attribute]; !is || value == "" {
			continue
		}
		if wrong := checkName(user, attribute); wrong != "" {
			unfit = append(unfit, schemas.Problem{Path: attribute, Message: wrong})
			continue
		}
		used, err := d.isTakenByOther(ctx, user, value)
		if err != nil {
			return nil, nil, err
		}
		if used {
			taken = append(taken, schemas.Problem{Path: attribute, Message: "This " + attribute + " is taken."})
		}
	}
	return unfit, taken, nil
}

// checkName returns what is wrong with the value of an identifying attribute that a user has
// chosen, "" if nothing is. A username must not be an email address that the user has not verified:
// it would lock out the owner of the mailbox, and identify the wrong user in sign-ins that accept
// either.
func checkName(u *schemas.User, attribute string) string {
	value := u.Text(attribute)
	if wrong := schemas.CheckIdentifier(attribute, value); wrong != "" || attribute != "username" {
		return wrong
	}
	key := schemas.IdentifierKey(value)
	if schemas.CheckIdentifier("email", key) == "" && key != schemas.IdentifierKey(u.Identifier("email")) {
		return "A username cannot be an email address. Choose one without @."
	}
	return ""
}

// checkType returns the problems of a user that does not fit its type, as sentences, with the error
// that reports them.
func (d Deps) checkType(ctx context.Context, user *schemas.User) ([]schemas.Problem, error) {
	err := d.Directory.CheckUser(ctx, user)
	if !schemas.HasCode(err, schemas.CodeUserDoesNotFit) {
		return nil, err
	}
	misfit := slices.Clone(schemas.AsError(err).Errors)
	for i := range misfit {
		misfit[i].Message = capitalize(misfit[i].Message)
	}
	return misfit, err
}

// failsOnUserType ends the run with an error that the user cannot correct: the flow
// collects too little for the user type, or the application does not allow the type. Any
// other error is returned.
func failsOnUserType(err error) (*engine.Decision, error) {
	if schemas.HasCode(err, schemas.CodeUserDoesNotFit) || schemas.HasCode(err, schemas.CodeUserTypeNotAllowed) {
		return &engine.Decision{Fail: schemas.AsError(err)}, nil
	}
	return nil, err
}

// attributeAt returns the attribute that a path is of, or of a part of it; "" for none of them.
func attributeAt(path string, attributes iter.Seq[string]) string {
	for attribute := range attributes {
		rest, ok := strings.CutPrefix(path, schemas.MemberPath("", attribute))
		if ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return attribute
		}
	}
	return ""
}

// firstOfEach returns the first problem at each path.
func firstOfEach(list []schemas.Problem) []schemas.Problem {
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(p schemas.Problem) bool {
		again := seen[p.Path]
		seen[p.Path] = true
		return again
	})
}

// capitalize writes the message of a problem as a sentence.
func capitalize(words string) string {
	if words == "" || strings.HasSuffix(words, ".") {
		return words
	}
	return strings.ToUpper(words[:1]) + words[1:] + "."
}

// isTakenByOther reports whether the value identifies another user in the identifier scope of u,
// under any identifying attribute: a username that equals another user's email address would
// identify the wrong user in sign-ins that accept either.
func (d Deps) isTakenByOther(ctx context.Context, u *schemas.User, value string) (bool, error) {
	for _, attribute := range schemas.IdentifyingAttributes() {
		switch found, err := d.Store.UserByAttribute(ctx, u.Type, attribute, value); {
		case err == nil && found.ID != u.ID:
			return true, nil
		case err != nil && !schemas.HasCode(err, schemas.CodeUserNotFound):
			return false, err
		}
	}
	return false, nil
}

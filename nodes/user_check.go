package nodes

import (
	"context"
	"slices"
	"strings"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// refuse returns why the user cannot be created, at the inputs of the attributes; nil if it can.
func (u *userCreate) refuse(ctx context.Context, draft *schemas.User) (*schemas.Error, error) {
	unfit, taken, err := u.checkNames(ctx, draft)
	if err != nil {
		return nil, err
	}
	misfit, err := u.checkType(ctx, draft)
	if err != nil {
		return nil, err
	}
	reported := slices.Concat(unfit, taken)
	for _, p := range misfit {
		if !slices.ContainsFunc(reported, func(q schemas.Problem) bool { return p.Path == q.Path }) {
			reported = append(reported, p)
		}
	}
	switch {
	case len(unfit) > 0:
		return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidIdentifier,
			"this cannot be the name of an account; choose another").WithProblems(reported), nil
	case len(taken) > 0:
		return schemas.Errorf(schemas.Invalid, schemas.CodeAttributeTaken,
			"another user has this already; choose another, or sign in if it is you").WithProblems(reported), nil
	case len(reported) > 0:
		return schemas.Errorf(schemas.Invalid, schemas.CodeUserDoesNotFit,
			"some of what was entered does not fit; change what is marked").WithProblems(reported), nil
	}
	return nil, nil
}

// checkNames finds identifying attributes that are not allowed, or that belong to another user.
func (u *userCreate) checkNames(ctx context.Context, draft *schemas.User) (unfit, taken []schemas.Problem, err error) {
	for _, attribute := range schemas.IdentifyingAttributes() {
		value := draft.Text(attribute)
		if value == "" {
			continue
		}
		at := schemas.Problem{Path: u.from[attribute]}
		if at.Message = checkName(draft, attribute); at.Message != "" {
			unfit = append(unfit, at)
			continue
		}
		used, err := isTakenByOther(ctx, u.users, draft, value)
		if err != nil {
			return nil, nil, err
		}
		if used {
			at.Message = "This " + attribute + " is taken."
			taken = append(taken, at)
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

// checkType finds what does not fit the user's type. A fault that comes from no input is returned
// as the error, because the user cannot correct it.
func (u *userCreate) checkType(ctx context.Context, draft *schemas.User) ([]schemas.Problem, error) {
	err := u.kinds.CheckUser(ctx, draft)
	if !schemas.HasCode(err, schemas.CodeUserDoesNotFit) {
		return nil, err
	}
	var misfit []schemas.Problem
	for _, p := range schemas.AsError(err).Errors {
		identifier := u.inputOf(p.Path)
		if identifier == "" {
			return nil, err
		}
		misfit = append(misfit, schemas.Problem{Path: identifier, Message: capitalize(p.Message)})
	}
	return misfit, nil
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

// inputOf returns the input of the attribute at the path, or "".
func (u *userCreate) inputOf(path string) string {
	for attribute, identifier := range u.from {
		if isBelow(path, attribute) {
			return identifier
		}
	}
	return ""
}

// isBelow reports whether a path is that of an attribute or of a part of it.
func isBelow(path, attribute string) bool {
	rest, ok := strings.CutPrefix(path, schemas.MemberPath("", attribute))
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
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
func isTakenByOther(ctx context.Context, users Users, u *schemas.User, value string) (bool, error) {
	for _, attribute := range schemas.IdentifyingAttributes() {
		switch found, err := users.UserByAttribute(ctx, u.Type, attribute, value); {
		case err == nil && found.ID != u.ID:
			return true, nil
		case err != nil && !schemas.HasCode(err, schemas.CodeUserNotFound):
			return false, err
		}
	}
	return false, nil
}

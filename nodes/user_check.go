package nodes

import (
	"context"
	"slices"
	"strings"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// refuse returns why the user cannot be made, told at the inputs that the
// attributes come from; nil when it can.
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
			"somebody else uses this already; choose another, or sign in if it is you").WithProblems(reported), nil
	case len(reported) > 0:
		return schemas.Errorf(schemas.Invalid, schemas.CodeUserDoesNotFit,
			"some of what was entered does not fit; change what is marked").WithProblems(reported), nil
	}
	return nil, nil
}

// checkNames finds identifying attributes that nobody may have, or that somebody
// has.
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
		used, err := isTakenByOther(ctx, u.users, value, draft.ID)
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

// checkName returns what is wrong with the value of an identifying attribute that a user
// has chosen, "" if nothing is. A username must not be an email address, unless the user
// has verified that one: it would keep the owner of the mailbox from using the address,
// and be found in place of them wherever people sign in by either.
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

// checkType finds what does not fit the user's type. What comes from no input is
// no fault of whoever sits before the page: it is the error.
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

// inputOf returns the input that the attribute at the path comes from, or "".
func (u *userCreate) inputOf(path string) string {
	for attribute, identifier := range u.from {
		if isBelow(path, attribute) {
			return identifier
		}
	}
	return ""
}

// isBelow reports whether a path is that of an attribute, or of a part of it.
func isBelow(path, attribute string) bool {
	rest, ok := strings.CutPrefix(path, schemas.MemberPath("", attribute))
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// capitalize makes one of the words of a problem.
func capitalize(words string) string {
	if words == "" || strings.HasSuffix(words, ".") {
		return words
	}
	return strings.ToUpper(words[:1]) + words[1:] + "."
}

// isTakenByOther reports whether anybody but the user can be found by the value, under
// whichever attribute: a username that is somebody's email address would be taken
// for theirs wherever people sign in by either.
func isTakenByOther(ctx context.Context, users Users, value, userID string) (bool, error) {
	for _, attribute := range schemas.IdentifyingAttributes() {
		switch found, err := users.UserByAttribute(ctx, attribute, value); {
		case err == nil && found.ID != userID:
			return true, nil
		case err != nil && !schemas.HasCode(err, schemas.CodeUserNotFound):
			return false, err
		}
	}
	return false, nil
}

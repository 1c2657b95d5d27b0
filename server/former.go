package server

import (
	"context"
	"net/http"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// formerPlural is the member with what former passwords alone have added to an account, in every reply.
const formerPlural = "addedWithFormerPassword"

// formerResponse lists what former passwords alone have added, and the user has not decided about.
type formerResponse struct {
	Added []schemas.Addition `json:"addedWithFormerPassword"`
}

// formerAdditions lists what former passwords alone have added to the account of a user.
func (s *server) formerAdditions(ctx context.Context, c *caller, userID string) ([]any, error) {
	found, err := s.Directory.FormerAdditions(ctx, c.Call, userID)
	list := make([]any, len(found))
	for i := range found {
		list[i] = found[i]
	}
	return list, err
}

// decideFormer handles POST /users/me/former-password. It replies with what is left to decide.
func (s *server) decideFormer(w http.ResponseWriter, r *http.Request, c *caller) error {
	var body formerBody
	if err := readJSON(w, r, smallBody, &body); err != nil {
		return err
	}
	left, err := s.Directory.DecideFormer(r.Context(), c.Call, directory.FormerDecision(body))
	return writeResult(w, formerResponse{append([]schemas.Addition{}, left...)}, err)
}

// formerBody is the body of POST /users/me/former-password.
type formerBody directory.FormerDecision

func (b *formerBody) check() []schemas.Problem {
	if len(b.Keep)+len(b.Remove) == 0 {
		return []schemas.Problem{missingMember("keep or remove", "ids of the list")}
	}
	return nil
}

// reportFormer adds to a changed user what former passwords alone have added, if the change set a password.
func (h nounHandlers) reportFormer(ctx context.Context, c *caller, changed *schemas.Document, item *directory.Item) (err error) {
	user, isUser := item.Value.(*schemas.User)
	if !isUser || changed.At("attributes.password") == nil {
		return nil
	}
	user.AddedWithFormerPassword, err = h.Directory.FormerAdditions(ctx, c.Call, user.ID)
	return err
}

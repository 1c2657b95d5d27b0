package mcp

import (
	"context"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

func (s *Server) revocationTools() []tool {
	return []tool{typedCall(tool{
		name: "service_revoke_tokens", title: "Revoke tokens", effect: replaces,
		description: "Revokes all tokens of an application, of a user or of everyone at once, for example after a theft. For an application or for everyone, users who are signed in get new tokens without signing in again. For a user it ends all sessions. For everyone it also revokes the token of this connection.",
		input: object(map[string]any{
			"of": map[string]any{"type": "string", "enum": []string{"application", "user", "everyone"}, "description": "What the tokens belong to."},
			"id": text("The id of the application or user; leave it out for everyone."),
		}, "of"),
		output: object(map[string]any{
			"count": map[string]any{"type": "integer", "description": "The number of applications, or of ended sessions of a user."},
		}, "count"),
	}, s.revokeTokens)}
}

type revocation struct {
	Of string `json:"of"`
	ID string `json:"id"`
}

func (s *Server) revokeTokens(ctx context.Context, c directory.Call, in *revocation) (*toolAnswer, error) {
	if (in.ID == "") != (in.Of == "everyone") {
		return nil, errArguments([]schemas.Problem{{Path: "id", Message: "expected the id of an application or user, and none for everyone"}})
	}
	count, err := 1, error(nil)
	switch in.Of {
	case "application":
		_, err = s.Directory.RevokeTokens(ctx, c, in.ID)
	case "user":
		count, err = s.Directory.EndSessions(ctx, c, in.ID, "")
	default:
		count, err = s.Directory.RevokeAllTokens(ctx, c)
	}
	if err != nil {
		return nil, err
	}
	return &toolAnswer{value: map[string]int{"count": count}}, nil
}

package shell

import (
	"context"

	"bridged/internal/client"
)

// RevokeToken revokes a token and everything that was created with it.
func (s *Shell) RevokeToken(ctx context.Context, id string) error {
	return s.deleteByID(ctx, id, "Token %d is revoked.", "bridged token list", (*client.Client).RevokeToken)
}

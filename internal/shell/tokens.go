package shell

import (
	"context"

	"bridged/internal/client"
)

// RevokeToken revokes a token and everything that was created with it.
func (s *Shell) RevokeToken(ctx context.Context, id string) error {
	number, err := parseID("<id>", id)
	if err != nil {
		return err
	}
	var answer client.Answer
	if err := s.API.Answering(&answer).RevokeToken(ctx, number); err != nil {
		return listHint(err, "bridged token list")
	}
	return s.printDone(answer, "Token %d is revoked.", number)
}

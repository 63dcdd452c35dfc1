package fleet

import (
	"context"
	"time"

	"github.com/rs/zerolog"
)

// accountRetry is when to ask again after the store did not answer.
const accountRetry = 5 * time.Second

// account is who the bridge is: the phone's digits. A store belongs to one
// account for good, so that what was known once never changes.
type account struct{ log Log }

func newAccount(log Log) account { return account{log} }

// wait returns the account as soon as it is known, or ctx's error.
func (a account) wait(ctx context.Context, log zerolog.Logger) (string, error) {
	isTold := false
	for {
		changed := a.log.Changed() // before asking
		name, err := a.log.Account(ctx)
		if err == nil && name != "" {
			return name, nil
		}
		var again <-chan time.Time
		if err != nil && ctx.Err() == nil {
			log.Error().Err(err).Msg("account not read; trying again")
			again = time.After(accountRetry)
		} else if !isTold {
			isTold = true
			log.Info().Msg("no account is paired yet: NATS hears of it once one is")
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-changed:
		case <-again:
		}
	}
}

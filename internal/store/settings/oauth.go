package settings

import (
	"context"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
)

// OAuthLimits bounds the clients that have registered themselves.
type OAuthLimits struct {
	Most   int           // in all
	Unused time.Duration // after which one that was never granted anything is removed
	Idle   time.Duration // after which one whose last grant has ended is removed
	Fresh  time.Duration // for which an unused one is not removed to make room for another
}

// OAuthClient returns a client that has registered itself, or fails with [bridge.CodeNotFound].
func (t *Tables) OAuthClient(ctx context.Context, id string) (bridge.OAuthClient, error) {
	return view(ctx, t, "read an OAuth client", func(c *sqlite.Conn) (client bridge.OAuthClient) {
		for row := range c.Rows("SELECT id, name, redirects, refreshes, created_at FROM oauth_clients WHERE id = ?", id) {
			var redirects []byte
			row.Scan(&client.ID, &client.Name, &redirects, &client.Refreshes, &client.CreatedAt)
			c.Decode(redirects, &client.Redirects)
			return client
		}
		c.Fail(bridge.NotFound("there is no OAuth client with this id"))
		return client
	})
}

// AddOAuthClient stores a client. If there are too many, it removes the oldest unused one that is not
// fresh, or fails with [bridge.CodeRateLimited].
func (t *Tables) AddOAuthClient(ctx context.Context, client bridge.OAuthClient, limits OAuthLimits) error {
	return t.update(ctx, "store an OAuth client", func(c *sqlite.Conn) {
		now := t.db.Clock().Now()
		before := func(d time.Duration) int64 { return now.Add(-d).UnixMilli() }
		const unused = "id NOT IN (SELECT client FROM oauth_grants) AND "
		c.Run("DELETE FROM oauth_clients WHERE "+unused+"(used_at IS NULL AND created_at <= ? OR used_at <= ?)", before(limits.Unused), before(limits.Idle))
		count := 0
		c.Find("SELECT count(*) FROM oauth_clients", nil, &count)
		if count >= limits.Most && c.Change("DELETE FROM oauth_clients WHERE id = (SELECT id FROM oauth_clients WHERE "+unused+
			"ifnull(used_at, created_at) <= ? ORDER BY ifnull(used_at, created_at) LIMIT 1)", before(limits.Fresh)) == 0 {
			c.Fail(&bridge.Error{Code: bridge.CodeRateLimited, Msg: "too many clients have registered; try again in some minutes", RetryAfter: limits.Fresh})
		}
		c.Run("INSERT INTO oauth_clients (id, name, redirects, refreshes, created_at) VALUES (?, ?, ?, ?, ?)",
			client.ID, client.Name, c.Encode(client.Redirects), client.Refreshes, now.UnixMilli())
	})
}

const selectGrant = `SELECT token, client, host, redirect, resource, challenge, refreshes,
	code_hash, code_ends, redeemed_at, refresh_id, refresh_hash FROM oauth_grants WHERE `

func scanGrant(row *sqlite.Row) (g bridge.OAuthGrant) {
	row.Scan(&g.Token, &g.Client, &g.Host, &g.Redirect, &g.Resource, &g.Challenge, &g.Refreshes,
		&g.CodeHash, &g.CodeEnds, &g.RedeemedAt, &g.RefreshID, &g.RefreshHash)
	return g
}

// grant returns the grant that meets a condition, or fails with [bridge.CodeNotFound].
func (t *Tables) grant(ctx context.Context, condition string, value any) (bridge.OAuthGrant, error) {
	return view(ctx, t, "read an OAuth grant", func(c *sqlite.Conn) (g bridge.OAuthGrant) {
		for row := range c.Rows(selectGrant+condition, value) {
			return scanGrant(row)
		}
		c.Fail(bridge.NotFound("there is no such OAuth grant"))
		return g
	})
}

// OAuthGrantByCode returns the grant whose code has a hash, also after it was exchanged.
func (t *Tables) OAuthGrantByCode(ctx context.Context, hash []byte) (bridge.OAuthGrant, error) {
	return t.grant(ctx, "code_hash = ?", hash)
}

// OAuthGrantByRefresh returns the grant of a refresh token by the hash of the part that stays.
func (t *Tables) OAuthGrantByRefresh(ctx context.Context, id []byte) (bridge.OAuthGrant, error) {
	return t.grant(ctx, "refresh_id = ?", id)
}

// OAuthGrantByAccess returns the grant whose token has a secret with a hash.
func (t *Tables) OAuthGrantByAccess(ctx context.Context, hash []byte) (bridge.OAuthGrant, error) {
	return t.grant(ctx, "token = (SELECT id FROM tokens WHERE hash = ?)", hash)
}

// AddOAuthGrant stores the grant of a token.
func (t *Tables) AddOAuthGrant(ctx context.Context, g bridge.OAuthGrant) error {
	return t.update(ctx, "store an OAuth grant", func(c *sqlite.Conn) {
		c.Run(`INSERT INTO oauth_grants (token, client, host, redirect, resource, challenge, refreshes, code_hash, code_ends)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			g.Token, g.Client, g.Host, g.Redirect, g.Resource, g.Challenge, g.Refreshes, g.CodeHash, g.CodeEnds)
		c.Run("UPDATE oauth_clients SET used_at = ? WHERE id = ?", t.now(), g.Client)
	})
}

// RenewOAuthGrant replaces the secrets of a grant and its token. It fails with [bridge.CodeNotFound]
// if the token has been removed.
func (t *Tables) RenewOAuthGrant(ctx context.Context, token int64, secrets bridge.OAuthSecrets) error {
	return t.update(ctx, "renew an OAuth grant", func(c *sqlite.Conn) {
		c.Run("UPDATE tokens SET hash = ?, secret_ends = ? WHERE id = ?", secrets.Access, secrets.AccessEnds, token)
		c.Run("DELETE FROM console_sessions WHERE token = ?", token) // opened with the former secret
		if c.Change("UPDATE oauth_grants SET redeemed_at = ifnull(redeemed_at, ?), refresh_id = ?, refresh_hash = ? WHERE token = ?",
			t.now(), secrets.RefreshID, secrets.RefreshHash, token) == 0 {
			c.Fail(bridge.NotFound("there is no such OAuth grant"))
		}
	})
}

// LapsedOAuthGrants returns the tokens of grants whose codes ended before they were exchanged.
func (t *Tables) LapsedOAuthGrants(ctx context.Context, now bridge.Time) ([]int64, error) {
	return view(ctx, t, "list OAuth grants", func(c *sqlite.Conn) []int64 {
		return sqlite.List[int64](c, "SELECT token FROM oauth_grants WHERE redeemed_at IS NULL AND code_ends <= ?", now)
	})
}

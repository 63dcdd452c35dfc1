package bridge

// OAuthClient is a program that registered itself to ask for access (RFC 7591).
type OAuthClient struct {
	ID        string
	Name      string   // as it calls itself; empty if it does not
	Redirects []string // the addresses that answers may be sent to
	Refreshes bool     // whether it takes refresh tokens
	CreatedAt Time
}

// OAuthGrant is access that an owner gave to a client: a token whose secret the client renews. It
// ends with the token. Secrets are stored as their SHA-256.
type OAuthGrant struct {
	Token     int64  // its id
	Client    string // its id, or the address of the document that describes it
	Host      string // where the answer was sent to, as people are shown it
	Redirect  string // the address that the answer was sent to
	Resource  string // the address that the access is for
	Challenge string // of PKCE, with the method S256
	Refreshes bool   // whether the client gets a refresh token

	CodeHash   []byte
	CodeEnds   Time
	RedeemedAt *Time // when the code was exchanged; nil until then

	// A refresh token has a part that stays the same, by which it is found, and one that changes.
	RefreshID   []byte // the hash of the former; nil until the code was exchanged
	RefreshHash []byte // the hash of the latter
}

// OAuthSecrets are the secrets that a client gets for its code or its refresh token, as their SHA-256.
type OAuthSecrets struct {
	Access      []byte
	AccessEnds  Time
	RefreshID   []byte // nil without a refresh token
	RefreshHash []byte
}

package bridge

import "strings"

// Bearer returns the token of an Authorization header, or "" and false if the header has another
// scheme (RFC 6750, section 2.1).
func Bearer(authorization string) (token string, is bool) {
	scheme, token, _ := strings.Cut(authorization, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	return strings.TrimSpace(token), true
}

package hooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"bridged/internal/bridge"
)

// signatureHeaders are those that carry the SHA-256 HMAC of a body, in hex; some
// after "sha256=".
var signatureHeaders = []string{
	"X-Hub-Signature-256", "X-Forgejo-Signature", "X-Gitea-Signature", "X-Gogs-Signature", "X-Grafana-Alerting-Signature",
}

// timestampHeader is where Grafana puts the time that it signs before the body,
// if it is told to use this name.
const timestampHeader = "X-Grafana-Alerting-Timestamp"

// Verify refuses a delivery that was not made by somebody who knows the secret:
// with [bridge.CodeSignatureInvalid]. Services that cannot sign send the secret
// itself, as a bearer or a password. Each way that a delivery tries must be
// right.
func Verify(secret string, header http.Header, body []byte) error {
	tried := 0
	for _, name := range signatureHeaders {
		for _, signature := range header.Values(name) {
			if tried++; !isSigned(secret, signature, header, body) {
				return bridge.Fail(bridge.CodeSignatureInvalid, "the signature in %s is not that of this body under this hook's secret", name)
			}
		}
	}
	if given, is := authorized(header); is && tried == 0 {
		if tried++; !equal(given, secret) {
			return bridge.Fail(bridge.CodeSignatureInvalid, "the bearer or password in Authorization is not this hook's secret")
		}
	}
	if tried == 0 {
		return bridge.Fail(bridge.CodeSignatureInvalid,
			"this hook has a secret: sign the body (%s), or send the secret as Authorization: Bearer", strings.Join(signatureHeaders, ", "))
	}
	return nil
}

// isSigned reports whether a signature is one of a body. Gitea signs what its
// form carries, GitHub the form.
func isSigned(secret, signature string, header http.Header, body []byte) bool {
	given, err := hex.DecodeString(strings.TrimPrefix(signature, "sha256="))
	if err != nil {
		return false
	}
	valid := hmac.Equal(given, Sign(secret, body))
	if at := header.Get(timestampHeader); at != "" {
		valid = hmac.Equal(given, Sign(secret, append([]byte(at+":"), body...)))
	}
	if kind, _, err := mime.ParseMediaType(header.Get("Content-Type")); !valid && err == nil && kind == "application/x-www-form-urlencoded" {
		if form, err := url.ParseQuery(string(body)); err == nil && form.Has("payload") && len(form) == 1 && len(form["payload"]) == 1 {
			valid = hmac.Equal(given, Sign(secret, []byte(form.Get("payload"))))
		}
	}
	return valid
}

// Sign returns the SHA-256 HMAC of a body.
func Sign(secret string, body []byte) []byte {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return mac.Sum(nil)
}

// authorized returns the bearer, or the password, that a delivery carries.
func authorized(header http.Header) (given string, is bool) {
	r := http.Request{Header: header}
	if _, password, isBasic := r.BasicAuth(); isBasic {
		return password, true
	}
	scheme, given, _ := strings.Cut(header.Get("Authorization"), " ")
	return strings.TrimSpace(given), strings.EqualFold(scheme, "Bearer")
}

// equal compares in a time that shows neither length nor the first wrong byte.
func equal(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

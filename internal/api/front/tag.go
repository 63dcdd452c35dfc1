package front

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
)

// Unchanged sets the ETag of a whole answer, and lets the caller store it. If the caller has it already, it
// answers 304 and returns true. The tag is weak, because the answer may be compressed.
func Unchanged(w http.ResponseWriter, r *http.Request, body []byte) bool {
	sum := sha256.Sum256(body)
	tag := `"` + hex.EncodeToString(sum[:16]) + `"`
	w.Header().Set("ETag", "W/"+tag)
	w.Header().Set("Cache-Control", "private, no-cache")
	if !HasTag(r, tag) && r.Header.Get("If-None-Match") != "*" {
		return false
	}
	w.WriteHeader(http.StatusNotModified)
	return true
}

// HasTag reports whether the caller already has the version with an entity tag.
func HasTag(r *http.Request, tag string) bool {
	for _, line := range r.Header.Values("If-None-Match") {
		for one := range strings.SplitSeq(line, ",") {
			if strings.TrimPrefix(strings.TrimSpace(one), "W/") == tag {
				return true
			}
		}
	}
	return false
}

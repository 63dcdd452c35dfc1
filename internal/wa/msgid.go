package wa

import (
	"crypto/sha256"
	"encoding/hex"
)

// maxIDLength bounds the ids that are kept as they came; the apps' own have 32
// characters at most.
const maxIDLength = 128

// idOf returns the id by which a message is stored and shown. It is the
// sender's own, unless that cannot stand in a path, in JSON or in a line of the
// log: then it is made of its hash, always the same one, so that whatever names
// the message later finds it.
func idOf(given string) string {
	if given == "" || isPlainID(given) {
		return given
	}
	sum := sha256.Sum256([]byte(given))
	return "x-" + hex.EncodeToString(sum[:16])
}

// isPlainID reports whether an id has visible ASCII characters alone, and leads
// nowhere else in a path that is decoded or normalised on its way.
func isPlainID(id string) bool {
	for i := range len(id) {
		if c := id[i]; c <= ' ' || c > '~' || c == '/' || c == '\\' || c == '%' {
			return false
		}
	}
	return len(id) <= maxIDLength && id != "." && id != ".."
}

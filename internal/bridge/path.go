package bridge

import (
	"encoding/base64"
	"errors"
	"strings"
)

// DownloadPath returns the relative path of a message's file.
func DownloadPath(chat JID, id string) string {
	return "/api/messages/media/" + chat.Escaped() + "/" + PathID(id)
}

// encodedID is the prefix of an encoded message id in a path.
const encodedID = "~"

// PathID returns a message id as one segment of a path. Senders choose ids, and proxies interpret
// "..", "%2e" and "%2F". So an id with other characters than letters, digits, - and _ becomes ~
// and the base64url of its bytes.
func PathID(id string) string {
	if id != "" && strings.Trim(id, plainID) == "" {
		return id
	}
	return encodedID + base64.RawURLEncoding.EncodeToString([]byte(id))
}

const plainID = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// ParsePathID returns the id in an unescaped segment from [PathID].
func ParsePathID(segment string) (string, error) {
	encoded, ok := strings.CutPrefix(segment, encodedID)
	if !ok {
		return segment, nil
	}
	id, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
	if err != nil {
		return "", errors.New("after ~ a message id is base64url without padding")
	}
	return string(id), nil
}

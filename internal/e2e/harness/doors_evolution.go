package harness

import (
	"encoding/base64"
)

func InBase64(file []byte) string { return base64.StdEncoding.EncodeToString(file) }

package compat

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

// The log shows no id in which a phone number is encoded, and other words of a path as they are.
func TestLog_HidesEncodedIDs(t *testing.T) {
	var log bytes.Buffer
	adapter := Mount("", "/cloud", http.NotFoundHandler(), context.Background(), zerolog.New(&log))
	for path, want := range map[string]string{
		"/cloud/v21.0/mMTIzNDVAcy53aGF0c2FwcC5uZXQvQQ":                "/cloud/v21.0/m…", // of the shortest number there is
		"/cloud/media/mMTIzNDVAcy53aGF0c2FwcC5uZXQvQQ/content":        "/cloud/media/m…/content",
		"/cloud/v21.0/wamid.MzQ2MDAxMDAxMDFAcy53aGF0c2FwcC5uZXQvM0VC": "/cloud/v21.0/wamid.…",
		"/cloud/v21.0/15550001111/message_templates":                  "/cloud/v21.0/…11/message_templates",
	} {
		log.Reset()
		adapter.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, http.NoBody))
		if !strings.Contains(log.String(), `"path":"`+want+`"`) {
			t.Errorf("%s is logged as %s, want %s", path, &log, want)
		}
	}
}

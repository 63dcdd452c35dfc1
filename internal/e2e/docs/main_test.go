package docs

import (
	"testing"

	"bridged/internal/e2e/harness"
)

func TestMain(m *testing.M) { harness.MainWithCurl(m) }

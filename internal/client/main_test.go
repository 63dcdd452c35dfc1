package client_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails if a call or a stream leaves a goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

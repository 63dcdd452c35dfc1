package chatimport

import (
	"testing"

	"bridged/internal/longtest"
)

func TestMain(m *testing.M) {
	longtest.AtOnce(6)
	m.Run()
}

package sending

import (
	"testing"

	"go.mau.fi/whatsmeow/proto/waE2E"
)

// TestRecovered_ValuesStayOutOfTheError: a panic may carry content.
func TestRecovered_ValuesStayOutOfTheError(t *testing.T) {
	s := new(Sender)
	run := func(f func()) (err error) {
		defer s.recovered("testing", &err)
		f()
		return nil
	}
	if err := run(func() { panic("secret words") }); err == nil || err.Error() != "the send panicked: string" {
		t.Errorf("panic with a text: %v", err)
	}
	var none *waE2E.Message
	if err := run(func() { _ = none.ImageMessage }); err == nil {
		t.Error("no error of a panic")
	}
	if err := run(func() {}); err != nil {
		t.Error(err)
	}
}

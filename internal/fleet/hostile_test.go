package fleet

import (
	"testing"

	"bridged/internal/intake/intaketest"
)

// No envelope takes a multiple of its bytes in memory before its request reaches the API, whatever
// is in place of each of its fields.
func TestBodies_OfEnvelopesHoldLittleMemory(t *testing.T) {
	const legal = `{"method":"POST","path":"/api/messages/send","headers":{"Authorization":"Bearer x"},"body":{"jid":"x"},"bodyBase64":"","form":{"jid":"x"},"file":{"name":"x"},"timeout":"1s"}`
	for _, body := range intaketest.Bodies(legal) {
		intaketest.Check(t, body.Where, intaketest.Usual, func() int {
			e, err := readEnvelope([]byte(body.Text))
			if err == nil {
				_, err = e.request(t.Context(), nil)
			}
			if err != nil {
				return refusal(err).Status
			}
			return 0
		})
	}
	for _, body := range intaketest.Others() {
		intaketest.Check(t, body.Name, intaketest.Usual, func() int {
			_, err := readEnvelope([]byte(body.Text))
			return refusal(err).Status
		})
	}
}

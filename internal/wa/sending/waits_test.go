package sending

import (
	"testing"
	"time"
)

// TestWaits_AnswersAndBudgets: for few devices callers get the promised minute, and
// no wait exceeds the API's limit.
func TestWaits_AnswersAndBudgets(t *testing.T) {
	for _, test := range []struct {
		devices        int
		answer, budget time.Duration
	}{
		{0, 30 * time.Second, time.Minute},
		{100, 30 * time.Second, time.Minute},
		{800, 51 * time.Second, 102 * time.Second},
		{2500, 75 * time.Second, 150 * time.Second},
		{100_000, 75 * time.Second, 150 * time.Second},
	} {
		if got := usualWaits.answerTime(test.devices); got != test.answer {
			t.Errorf("an answer about %d devices is waited for %v, want %v", test.devices, got, test.answer)
		}
		if got := usualWaits.budgetFor(test.devices); got != test.budget || got > usualWaits.most() {
			t.Errorf("a send to %d devices may take %v, want %v", test.devices, got, test.budget)
		}
	}
}

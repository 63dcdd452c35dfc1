package bridge

import (
	"strings"
	"testing"
)

func TestRemedy_OfSentencesWithVariableParts(t *testing.T) {
	for sentence, want := range map[string]string{
		"bridged.db is damaged: stop bridged and put a copy in its place":                                                    "replace the file with a backup",
		"a message could not be stored; the network sends it again: bridged.db is damaged: stop bridged":                     "follow the rest of the sentence",
		"the account is banned until 2026-11-21T08:15:30.000Z (101): trying again at the end":                                "wait. Send less",
		"unlinked from the phone on 2026-11-21T08:15:30.000Z; pair again":                                                    "pair again. The device",
		"the network refuses this client's version (2.3000.1): looking for a newer one":                                      "(client versions: docs/operations.md#client-versions)",
		"another client took over this session: stop it, then POST /api/auth/reconnect or restart":                           "run bridged reconnect",
		"the network will refuse this client's version (2.3000.1) from 2026-11-21T08:15:30.000Z: it is replaced":             "before that date allow access",
		"another process runs this account (on a, since b, last seen as open): it can run here after that process has ended": "(fleets: docs/fleet.md#one-process-for-each-account)",
	} {
		if got := Remedy(sentence); !strings.Contains(got, want) || strings.ContainsAny(got, "`[]") {
			t.Errorf("%s: %q", sentence, got)
		}
	}
	for _, sentence := range []string{"", "WhatsApp cannot be reached: trying again", "damaged"} {
		if got := Remedy(sentence); got != "" {
			t.Errorf("%s: %q", sentence, got)
		}
	}
}

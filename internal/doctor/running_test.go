package doctor

import (
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
)

func TestSecurity_IsAWarning(t *testing.T) {
	got := security(bridge.SecurityNotice{Kind: bridge.SecurityTakenOver, Message: "another phone takes the number over"}, time.UTC)
	if got.Verdict != Warn || !strings.HasPrefix(got.Message, "another phone takes the number over (") || got.Remedy == "" {
		t.Errorf("%+v", got)
	}
}

func TestTranscripts_JudgesTheMinutes(t *testing.T) {
	for _, test := range []struct {
		of   bridge.Transcription
		want Verdict
		says string
	}{
		{bridge.Transcription{Mode: "all", Waiting: 2, SecondsUsed: 119}, OK, "TRANSCRIBE is all; 2 wait, 2 minutes used this month"},
		{bridge.Transcription{Mode: "off", SecondsUsed: 541, SecondsLimit: new(600)}, OK, "TRANSCRIBE is off; 0 wait, 10 minutes used this month of 10"},
		{bridge.Transcription{Mode: "all", Waiting: 2, PutOff: 1, SecondsUsed: 43, SecondsLimit: new(60)}, Warn, "TRANSCRIBE is all; 2 wait, 1 minutes used this month of 1"},
		{bridge.Transcription{Mode: "off", Waiting: 1, SecondsUsed: 600, SecondsLimit: new(600)}, Warn, "TRANSCRIBE is off; 1 wait, 10 minutes used this month of 10"},
	} {
		if got := transcripts(test.of); got.Verdict != test.want || got.Message != test.says || (got.Remedy == "") != (test.want == OK) {
			t.Errorf("%+v: %+v", test.of, got)
		}
	}
}

func TestNewChats_WarnsOfTheQuota(t *testing.T) {
	for _, test := range []struct {
		of   bridge.NewChatQuota
		want Verdict
		says string
	}{
		{bridge.NewChatQuota{Status: bridge.QuotaFree, Total: new(50), Used: new(3)}, OK, "the network limits the chats that this account starts: 3 of 50 are used"},
		{
			bridge.NewChatQuota{Status: bridge.QuotaSecondWarning, Total: new(50), Used: new(45)},
			Warn,
			"the network limits the chats that this account starts: 45 of 50 are used; the network warns that they will be used up",
		},
		{bridge.NewChatQuota{Status: bridge.QuotaCapped}, Warn, "the network limits the chats that this account starts; the account cannot start more now"},
	} {
		if got := newChats(test.of, time.UTC); got.Verdict != test.want || got.Message != test.says || (got.Remedy == "") != (test.want == OK) {
			t.Errorf("%+v: %+v", test.of, got)
		}
	}
}

func TestLogin_WarnsOfAVersionThatExpires(t *testing.T) {
	at := bridge.At(time.Date(2026, 12, 24, 12, 0, 0, 0, time.UTC))
	for _, test := range []struct {
		of   bridge.ClientVersion
		want Verdict
		says string
	}{
		{bridge.ClientVersion{Current: "2.3000.1"}, OK, "WhatsApp Web 2.3000.1"},
		{bridge.ClientVersion{Current: "2.3000.1", ExpiresAt: &at}, Warn, "WhatsApp Web 2.3000.1, which the network will refuse from 2026-12-24 12:00:00 UTC"},
		{bridge.ClientVersion{}, OK, "unknown, because the bridge is older"},
	} {
		got := Login(bridge.Status{ClientVersion: test.of}, time.UTC)
		if got.Verdict != test.want || got.Message != test.says || strings.Contains(got.Remedy, "CLIENT_VERSION") != (test.want == Warn) {
			t.Errorf("%+v: %+v", test.of, got)
		}
	}
}

func TestAccount_APauseIsToBeWaitedFor(t *testing.T) {
	until := bridge.At(time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC))
	got := account(bridge.Status{Status: bridge.StateClosed, HasSession: true, LastError: new("the network refuses logins"), PausedUntil: &until})
	if got.Verdict != Fail || !strings.Contains(got.Message, "refuses logins") || !strings.HasPrefix(got.Remedy, "wait: logging in before 2026-11-28 12:00:00 UTC") {
		t.Errorf("%+v", got)
	}
	got = account(bridge.Status{Status: bridge.StateOpen, CatchingUp: &bridge.CatchingUp{Received: 5, Expected: 711}})
	if got.Verdict != OK || !strings.HasSuffix(got.Message, "5 of 711 queued stanzas received") {
		t.Errorf("%+v", got)
	}
}

package api_test

import (
	"net/http"
	"testing"
	"time"

	"bridged/internal/api"
	"bridged/internal/bridge"
)

// stats is the answer of /api/stats.
type stats struct {
	Version        string
	SendEnabled    bool
	Since          bridge.Time
	Received, Sent int
	Chats          int
	Messages       int
	PhoneSeenAt    *bridge.Time
	StoreBytes     int64
	HistoryImport  bridge.HistoryImport
	HistoryPaired  *bridge.HistoryImport
	Transcription  *bridge.Transcription
}

func (s *server) stats(query string) (got stats) {
	s.t.Helper()
	s.Get("/api/stats" + query).Want(http.StatusOK).Decode(&got)
	return got
}

func TestStats_CountMessagesSinceAMoment(t *testing.T) {
	t.Parallel()
	s := newServer(t, sendDisabled, func(o *api.Options) { o.Build.Version = "1.2.3" })
	s.account.traffic.PhoneSeenAt = new(bridge.At(noon))
	s.know(say(club, grace, "G1", "to all", 0), say(grace, grace, "M1", "to one", 1), say(club, grace, "G2", "more", 5), mine(grace, "M2"))
	got := s.stats("?since=2026-11-21T12:01:00Z")
	if got.Received != 2 || got.Sent != 1 || got.Version != "1.2.3" || got.Chats != 2 || got.Messages != 4 || got.PhoneSeenAt == nil || got.SendEnabled || got.StoreBytes == 0 || !got.Since.Equal(noon.Add(60e9)) {
		t.Errorf("since 12:01: %+v", got)
	}
	if all := s.stats("?since=2026-11-21"); all.Received != 3 || all.Sent != 1 {
		t.Errorf("since midnight: %+v", all)
	}
	if none := s.stats("?since=2026-11-22"); none.Received != 0 || none.Sent != 0 {
		t.Errorf("since tomorrow: %+v", none)
	}
	s.Get("/api/stats?since=yesterday").Want(http.StatusBadRequest)
}

func TestStats_AreOfTodayByDefault(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(o *api.Options) { o.Now = func() time.Time { return noon } })
	if got := s.stats(""); got.Since.String() != "2026-11-21T00:00:00.000Z" || !got.SendEnabled {
		t.Errorf("%+v", got)
	}
}

// The history that is imported, and what the pairing has asked for.
func TestStats_TellWhatThePairingAskedFor(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(o *api.Options) { o.HistoryImport = bridge.HistoryOfDays(365) })
	if got := s.stats(""); got.HistoryImport != "365d" || got.HistoryPaired != nil {
		t.Errorf("unknown: %+v", got)
	}
	s.account.pairedHistory = bridge.HistoryRecent
	if got := s.stats(""); got.HistoryPaired == nil || *got.HistoryPaired != bridge.HistoryRecent {
		t.Errorf("%+v", got)
	}
}

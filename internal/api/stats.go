package api

import (
	"net/http"
	"time"

	"bridged/internal/bridge"
)

// stats is what a person wants to know of a bridge at a glance. What monitoring
// needs is in the metrics.
type stats struct {
	Version     string      `json:"version"`
	Library     string      `json:"library"`
	StartedAt   bridge.Time `json:"startedAt"`
	SendEnabled bool        `json:"sendEnabled"`
	// HistoryPaired is null where it is not known.
	HistoryImport bridge.HistoryImport  `json:"historyImport"`
	HistoryPaired *bridge.HistoryImport `json:"historyPaired"`
	Since         bridge.Time           `json:"since"`
	Received      int                   `json:"received"`
	Sent          int                   `json:"sent"`
	StoreBytes    int64                 `json:"storeBytes"`
	MediaBytes    int64                 `json:"mediaBytes"`
}

// getStats answers the messages since a moment, by default the last midnight in
// UTC, and what the bridge takes up.
func (s *server) getStats(w http.ResponseWriter, r *http.Request) error {
	q := readQuery(r)
	since := q.since()
	if q.err != nil {
		return q.err
	}
	if since == nil {
		midnight := bridge.At(s.now().UTC().Truncate(24 * time.Hour))
		since = &midnight
	}
	counts, err := s.store.Count(r.Context(), *since)
	if err != nil {
		return err
	}
	size, err := s.store.FileSize()
	if err != nil {
		return err
	}
	var paired *bridge.HistoryImport
	switch choice, err := s.account.PairedHistory(r.Context()); {
	case err != nil:
		return err
	case choice != "":
		paired = &choice
	}
	return s.answer(w, r, stats{
		Version: s.build.Version, Library: s.build.Library, StartedAt: s.started, SendEnabled: s.enableSend,
		HistoryImport: s.history, HistoryPaired: paired,
		Since: *since, Received: counts.Received, Sent: counts.Sent, StoreBytes: size, MediaBytes: s.files.Size(),
	})
}

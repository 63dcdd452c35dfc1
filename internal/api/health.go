package api

import (
	"context"
	_ "embed"
	"net/http"
	"runtime"
	"time"

	"bridged/internal/bridge"
)

// readyTimeout bounds the store's answer to a probe.
const readyTimeout = 2 * time.Second

// getHealth answers 200 while the process runs, even if the account is not open, so that
// supervisors do not restart a bridge that waits.
func getHealth(in *input) (any, error) {
	return struct {
		OK bool        `json:"ok"`
		TS bridge.Time `json:"ts"`
	}{true, bridge.At(in.Now())}, nil
}

// getReadiness answers 200 if reading and sending would work now.
func getReadiness(in *input) (any, error) {
	ctx, cancel := context.WithTimeout(in.ctx(), readyTimeout)
	defer cancel()
	if _, err := in.Store.Chats(ctx, bridge.ChatQuery{Type: bridge.ChatsAll, Limit: 1}); err != nil {
		if in.ctx().Err() != nil {
			return nil, err
		}
		return nil, bridge.Fail(bridge.CodeStorageUnavailable, "the store does not answer").Because(err)
	}
	return struct {
		OK     bool         `json:"ok"`
		TS     bridge.Time  `json:"ts"`
		Status bridge.State `json:"status"`
	}{true, bridge.At(in.Now()), in.Account.Status().Status}, in.Account.Ready()
}

// getStats answers with sizes, and the number of messages since a time, by default midnight UTC.
func getStats(in *input) (any, error) {
	since := in.since()
	if in.err != nil {
		return nil, in.err
	}
	if since == nil {
		midnight := bridge.At(in.Now().UTC().Truncate(24 * time.Hour))
		since = &midnight
	}
	counts, err := in.Store.Count(in.ctx(), *since)
	if err != nil {
		return nil, err
	}
	size, err := in.Store.FileSize(in.ctx())
	if err != nil {
		return nil, err
	}
	transcription, err := in.transcription(in.ctx())
	if err != nil {
		return nil, err
	}
	choice, err := in.Account.PairedHistory(in.ctx())
	traffic := in.Account.Traffic()
	if !in.Account.Status().HasSession {
		traffic.PhoneSeenAt = nil
	}
	return struct {
		Version        string                `json:"version"`
		Library        string                `json:"library"`
		GoVersion      string                `json:"goVersion"`
		StartedAt      bridge.Time           `json:"startedAt"`
		SendEnabled    bool                  `json:"sendEnabled"`
		HistoryImport  bridge.HistoryImport  `json:"historyImport"`
		HistoryPaired  *string               `json:"historyPaired"` // null for unknown
		Since          bridge.Time           `json:"since"`
		Received       int                   `json:"received"`
		Sent           int                   `json:"sent"`
		Chats          int                   `json:"chats"`
		Messages       int                   `json:"messages"`
		LastReceivedAt *bridge.Time          `json:"lastReceivedAt"` // null if nothing was received since the start
		PhoneSeenAt    *bridge.Time          `json:"phoneSeenAt"`    // null for unknown
		StoreBytes     int64                 `json:"storeBytes"`
		MediaBytes     int64                 `json:"mediaBytes"`
		Transcription  *bridge.Transcription `json:"transcription"` // null without a service
		Backups        *bridge.Backups       `json:"backups"`       // null without BACKUP_DIR
	}{
		in.Build.Version, in.Build.Library, runtime.Version(), in.started, in.EnableSend, in.HistoryImport, bridge.OrNil(string(choice)),
		*since, counts.Received, counts.Sent, counts.Chats, counts.Messages, traffic.LastReceivedAt, traffic.PhoneSeenAt,
		size, in.Files.Size(), transcription, in.Backups.Now(),
	}, err
}

// Document describes everything that [New] serves, in OpenAPI. Tests check every answer against it.
//
//go:embed openapi.yaml
var Document []byte

// getDocument answers with the document. It needs no token because it contains no data.
func getDocument(in *input) (any, error) {
	in.writeText(http.StatusOK, "application/yaml", in.document.YAML())
	return nil, nil
}

func getDocumentAsJSON(in *input) (any, error) {
	document, err := in.document.JSON()
	if err != nil {
		return nil, err
	}
	in.writeText(http.StatusOK, "application/json", document)
	return nil, nil
}

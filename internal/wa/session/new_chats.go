package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"bridged/internal/bridge"
)

// These are the names of the query for the network's limit of new chats, as WhatsApp Web sends it
// (module WAWebMexFetchNewChatMessageCappingInfoJob). The id is the one of the query
// FetchNewChatMessageCappingInfo in WhatsApp Web of 2026; WAHA, Baileys, whatsapp-rust and zapo
// use the same. The network refuses ids that it has withdrawn.
const (
	quotaQuery = "24503548349331633"
	quotaType  = "INDIVIDUAL_NEW_CHAT_THREAD"
)

// Quota reports the network's limit of new chats.
type Quota struct {
	bridge.NewChatQuota
	// SentAt is when the network made the report, or zero if the report does not say.
	SentAt time.Time
	// IsNone means that the account has no limit.
	IsNone bool
}

// quotaStatuses maps capping_status; NONE and unknown values mean free.
var quotaStatuses = map[string]bridge.QuotaStatus{
	"FIRST_WARNING": bridge.QuotaFirstWarning, "SECOND_WARNING": bridge.QuotaSecondWarning, "CAPPED": bridge.QuotaCapped,
}

// optionalInt is a number that the network sends as a JSON number or a string, or null.
type optionalInt struct{ value *int64 }

// UnmarshalJSON ignores values that are not integers.
func (w *optionalInt) UnmarshalJSON(encoded []byte) error {
	if n, err := strconv.ParseInt(string(bytes.Trim(encoded, `"`)), 10, 64); err == nil {
		w.value = &n
	}
	return nil
}

// count returns the number as a count, or nil if it is not a valid count.
func (w optionalInt) count() *int {
	if w.value == nil || *w.value < 0 || *w.value > 1<<31-1 {
		return nil
	}
	return new(int(*w.value))
}

// time returns Unix seconds as a time, or nil.
func (w optionalInt) time() *bridge.Time {
	if w.value == nil || *w.value <= 0 || *w.value > 1<<40 {
		return nil
	}
	return new(bridge.At(time.Unix(*w.value, 0)))
}

// quotaInfo is the network's report. It leaves out ote_status and mv_status, the state of
// requests for a higher limit.
type quotaInfo struct {
	Status string      `json:"capping_status"`
	Total  optionalInt `json:"total_quota"`
	Used   optionalInt `json:"used_quota"`
	Start  optionalInt `json:"cycle_start_timestamp"`
	End    optionalInt `json:"cycle_end_timestamp"`
	SentAt optionalInt `json:"server_sent_timestamp"`
}

func (i quotaInfo) quota() Quota {
	q := Quota{NewChatQuota: bridge.NewChatQuota{
		Status: bridge.QuotaFree, Total: i.Total.count(), Used: i.Used.count(), CycleStartsAt: i.Start.time(), CycleEndsAt: i.End.time(),
	}}
	if status, known := quotaStatuses[strings.ToUpper(i.Status)]; known {
		q.Status = status
	}
	if q.Total != nil && q.Used != nil {
		*q.Used = min(*q.Used, *q.Total) // as WhatsApp Web does
	}
	if at := i.SentAt.time(); at != nil {
		q.SentAt = at.Time
	}
	q.IsNone = q.Status == bridge.QuotaFree && q.Total == nil // total_quota is -1
	return q
}

// readQuota parses the update as WAWebNewChatMessageCappingNotificationHandler does.
func readQuota(data json.RawMessage) any {
	var body struct {
		Info *quotaInfo `json:"xwa2_notify_new_chat_messages_capping_info_update"`
	}
	if json.Unmarshal(data, &body) != nil || body.Info == nil {
		return nil
	}
	return body.Info.quota()
}

// NewChatQuota asks for the network's limit of new chats.
func (c *Client) NewChatQuota(ctx context.Context) (Quota, error) {
	data, err := c.dangerous().SendMexIQ(ctx, quotaQuery, map[string]any{"input": map[string]string{"type": quotaType}})
	if err != nil {
		return Quota{}, fmt.Errorf("ask for the limit of new chats: %w", err)
	}
	var body struct {
		Info *quotaInfo `json:"xwa2_message_capping_info"`
	}
	if err := json.Unmarshal(data, &body); err != nil {
		return Quota{}, fmt.Errorf("read the limit of new chats: %w", err)
	}
	if body.Info == nil {
		return Quota{}, errors.New("the network's answer lacks the limit of new chats")
	}
	return body.Info.quota(), nil
}

package session

import (
	"encoding/json"
	"testing"

	"bridged/internal/bridge"
)

// TestQuota_IsReadInAllItsForms: numbers come as numbers or as texts, and fields are null or
// of a form that is not known.
func TestQuota_IsReadInAllItsForms(t *testing.T) {
	t.Parallel()
	const field = `{"xwa2_notify_new_chat_messages_capping_info_update":`
	for name, c := range map[string]struct {
		info        string
		status      bridge.QuotaStatus
		total, used int // -1 for nil
		end         int64
		isNone      bool
	}{
		"numbers":             {`{"capping_status":"CAPPED","total_quota":50,"used_quota":60,"cycle_end_timestamp":1779604800}`, bridge.QuotaCapped, 50, 50, 1779604800, false},
		"texts":               {`{"capping_status":"second_warning","total_quota":"50","used_quota":"45","cycle_end_timestamp":"1779604800"}`, bridge.QuotaSecondWarning, 50, 45, 1779604800, false},
		"no limit":            {`{"capping_status":"NONE","total_quota":-1,"used_quota":3}`, bridge.QuotaFree, -1, 3, 0, true},
		"nothing but a state": {`{"capping_status":"CAPPED","total_quota":null}`, bridge.QuotaCapped, -1, -1, 0, false},
		"another form":        {`{"capping_status":"LATER","total_quota":{"n":5},"used_quota":1e99,"cycle_end_timestamp":"soon"}`, bridge.QuotaFree, -1, -1, 0, true},
	} {
		evt := readQuota(json.RawMessage(field + c.info + "}"))
		q, ok := evt.(Quota)
		if !ok {
			t.Errorf("%s: read as %T", name, evt)
			continue
		}
		number := func(n *int) int {
			if n == nil {
				return -1
			}
			return *n
		}
		end := int64(0)
		if q.CycleEndsAt != nil {
			end = q.CycleEndsAt.Unix()
		}
		if q.Status != c.status || number(q.Total) != c.total || number(q.Used) != c.used || end != c.end || q.IsNone != c.isNone {
			t.Errorf("%s: %+v", name, q)
		}
	}
	for _, data := range []string{"", "[]", "{}", field + "null}", field + "7}"} {
		if evt := readQuota(json.RawMessage(data)); evt != nil {
			t.Errorf("%q is read as %+v", data, evt)
		}
	}
}

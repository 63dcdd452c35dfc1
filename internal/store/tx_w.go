package store

import (
	"bridged/internal/bridge"
	"bridged/internal/store/columns"
)

// pack returns the column, nil for no details.
func (t *writeTx) pack(d columns.Details) any {
	if d == (columns.Details{}) {
		return nil
	}
	return t.Encode(d)
}

// packRef returns the column that says where a message's file lies.
func (t *writeTx) packRef(m bridge.Message) any {
	if m.Media == nil {
		return nil
	}
	return t.Encode(m.Media.Ref)
}

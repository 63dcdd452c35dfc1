package history

import (
	"cmp"
	"context"
	"time"

	"go.mau.fi/whatsmeow/proto/waCompanionReg"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
)

// megabytes is how much space this device claims to have for history: the number of the desktop
// app.
const megabytes = 102400

// Request sets how much history the phone should send. The phone decides that once, at the
// pairing. The flag for full history is not enough: phones only send years of history to a
// desktop that also states its limits.
func Request(props *waCompanionReg.DeviceProps, wanted bridge.HistoryImport) {
	props.RequireFullSync = proto.Bool(wanted.IsDeep())
	if !wanted.IsDeep() {
		return
	}
	days := cmp.Or(wanted.Bound(), bridge.MaxHistoryDays)
	props.PlatformType = waCompanionReg.DeviceProps_DESKTOP.Enum()
	props.HistorySyncConfig = cmp.Or(props.HistorySyncConfig, new(waCompanionReg.DeviceProps_HistorySyncConfig))
	config := props.HistorySyncConfig
	config.FullSyncDaysLimit = new(uint32(days))
	config.FullSyncSizeMbLimit, config.StorageQuotaMb = new(uint32(megabytes)), new(uint32(megabytes))
}

// since returns the time before which messages are too old to be imported, or zero.
func (h *History) since() time.Time {
	if days := h.o.Import.Bound(); days > 0 {
		return h.o.Clock.Now().AddDate(0, 0, -days)
	}
	return time.Time{}
}

const settingPaired = "history_paired" // how much history the pairing asked for

// NotePaired stores how much history was requested at the pairing.
func (h *History) NotePaired(requested bridge.HistoryImport) {
	if err := h.o.Store.SetSetting(h.o.Background, settingPaired, string(requested)); err != nil {
		h.o.Log.Warn().Err(err).Msg("cannot store how much history the pairing requested")
	}
}

// PairedHistory returns how much history was requested at the session's pairing, or "" if
// unknown.
func (h *History) PairedHistory(ctx context.Context) (bridge.HistoryImport, error) {
	paired, err := h.o.Store.Setting(ctx, settingPaired)
	return bridge.HistoryImport(paired), err
}

// Compare logs a warning if the configuration asks for more history than the pairing requested.
func (h *History) Compare(ctx context.Context) {
	if pn, _ := h.o.Own(); pn == "" {
		return
	}
	paired, err := h.PairedHistory(ctx)
	if err != nil {
		h.o.Log.Warn().Err(err).Msg("cannot read how much history the pairing requested")
		return
	}
	if wanted := h.o.Import; wanted.Exceeds(paired) {
		h.o.Log.Warn().Str("HISTORY_IMPORT", string(wanted)).Str("at_pairing", string(paired)).
			Msg("HISTORY_IMPORT asks for more history than the pairing did, and the phone sends its history only after pairing: pair again to get it")
	}
}

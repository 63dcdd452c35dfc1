package history

import (
	"cmp"
	"context"
	"time"

	"go.mau.fi/whatsmeow/proto/waCompanionReg"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
)

// megabytes says how much history the companion has room for: the desktop app's number.
const megabytes = 102400

// Request sets how far back the phone is to send its messages, which it decides once, at
// the pairing. The full history alone is a shallow one: phones send years only to a
// desktop that names its limits.
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

// since returns the time before which messages are too old to be imported; zero for none.
func (h *History) since() time.Time {
	if days := h.o.Import.Bound(); days > 0 {
		return h.o.Clock.Now().AddDate(0, 0, -days)
	}
	return time.Time{}
}

const settingPaired = "history_paired" // how much history the pairing asked for

// NotePaired stores how much history the pairing has asked for.
func (h *History) NotePaired(requested bridge.HistoryImport) {
	if err := h.o.Store.SetSetting(h.o.Background, settingPaired, string(requested)); err != nil {
		h.o.Log.Warn().Err(err).Msg("how much history the pairing asked for was not stored")
	}
}

// PairedHistory returns how much history the session's pairing has asked for, "" if unknown.
func (h *History) PairedHistory(ctx context.Context) (bridge.HistoryImport, error) {
	paired, err := h.o.Store.Setting(ctx, settingPaired)
	return bridge.HistoryImport(paired), err
}

// Compare warns if the configuration asks for more history than the pairing did.
func (h *History) Compare(ctx context.Context) {
	if pn, _ := h.o.Own(); pn == "" {
		return
	}
	paired, err := h.PairedHistory(ctx)
	if err != nil {
		h.o.Log.Warn().Err(err).Msg("how much history the pairing asked for cannot be read")
		return
	}
	if wanted := h.o.Import; wanted.Exceeds(paired) {
		h.o.Log.Warn().Str("HISTORY_IMPORT", string(wanted)).Str("at_pairing", string(paired)).
			Msg("HISTORY_IMPORT asks for more than at the pairing, and the phone sends its history only then: pair again to get it")
	}
}

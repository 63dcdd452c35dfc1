package history

import (
	"context"
	"time"

	"go.mau.fi/whatsmeow/proto/waCompanionReg"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
)

// The phone decides once, at the pairing, how much of its past it sends, by what
// the companion says of itself then.

// megabytes is how many megabytes of history the companion says to have room for:
// as much as the desktop app.
const megabytes = 102400

// Request enters how far back the phone is to send its messages. The full
// history alone is a shallow one: phones give years only to what calls itself a
// desktop and names its limits.
func Request(props *waCompanionReg.DeviceProps, wanted bridge.HistoryImport) {
	props.RequireFullSync = proto.Bool(wanted.IsDeep())
	if !wanted.IsDeep() {
		return
	}
	days := wanted.Bound()
	if days == 0 {
		days = bridge.MaxHistoryDays
	}
	props.PlatformType = waCompanionReg.DeviceProps_DESKTOP.Enum()
	if props.HistorySyncConfig == nil {
		props.HistorySyncConfig = new(waCompanionReg.DeviceProps_HistorySyncConfig)
	}
	config := props.HistorySyncConfig
	config.FullSyncDaysLimit = proto.Uint32(uint32(days))
	config.FullSyncSizeMbLimit = proto.Uint32(megabytes)
	config.StorageQuotaMb = proto.Uint32(megabytes)
}

// since returns before what time messages are too old to be imported,
// unless they were asked for; zero where none is.
func (h *History) since() time.Time {
	days := h.o.Import.Bound()
	if days == 0 {
		return time.Time{}
	}
	return h.o.Clock.Now().AddDate(0, 0, -days)
}

// settingPaired keeps how much history was asked for at the pairing.
const settingPaired = "history_paired"

// NotePaired remembers how much history the pairing has asked for.
func (h *History) NotePaired() {
	if err := h.o.Store.SetSetting(h.o.Background, settingPaired, string(h.o.Import)); err != nil {
		h.o.Log.Warn().Err(err).Msg("how much history the pairing has asked for is not remembered")
	}
}

// PairedHistory returns how much history the session's pairing has asked for; ""
// where that is not known, or there is no session.
func (h *History) PairedHistory(ctx context.Context) (bridge.HistoryImport, error) {
	paired, err := h.o.Store.Setting(ctx, settingPaired)
	return bridge.HistoryImport(paired), err
}

// Compare logs that the configuration asks for more history than the
// pairing has.
func (h *History) Compare(ctx context.Context) {
	if pn, _ := h.o.Own(); pn == "" {
		return
	}
	paired, err := h.PairedHistory(ctx)
	if err != nil {
		h.o.Log.Warn().Err(err).Msg("how much history the pairing has asked for is not known")
		return
	}
	if wanted := h.o.Import; wanted.Exceeds(paired) {
		h.o.Log.Warn().Str("HISTORY_IMPORT", string(wanted)).Str("at_pairing", string(paired)).
			Msg("HISTORY_IMPORT asks for more than at the pairing, and the phone sends its history only then: pair again to get it")
	}
}

package wa

import (
	"context"
	"time"

	"go.mau.fi/whatsmeow/proto/waCompanionReg"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
)

// The phone decides once, at the pairing, how much of its past it sends, by what
// the companion says of itself then.

// historyMb is how many megabytes of history the companion says to have room for:
// as much as the desktop app.
const historyMb = 102400

// askForHistory enters how far back the phone is to send its messages. The full
// history alone is a shallow one: phones give years only to what calls itself a
// desktop and names its limits.
func askForHistory(props *waCompanionReg.DeviceProps, wanted bridge.HistoryImport) {
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
	config.FullSyncSizeMbLimit = proto.Uint32(historyMb)
	config.StorageQuotaMb = proto.Uint32(historyMb)
}

// historySince returns before what time messages are too old to be imported,
// unless they were asked for; zero where none is.
func (m *Manager) historySince() time.Time {
	days := m.opts.HistoryImport.Bound()
	if days == 0 {
		return time.Time{}
	}
	return m.opts.Clock.Now().AddDate(0, 0, -days)
}

// settingHistoryPaired keeps how much history was asked for at the pairing.
const settingHistoryPaired = "history_paired"

// notePairedHistory remembers how much history the pairing has asked for.
func (m *Manager) notePairedHistory() {
	if err := m.store.SetSetting(m.background, settingHistoryPaired, string(m.opts.HistoryImport)); err != nil {
		m.log.Warn().Err(err).Msg("how much history the pairing has asked for is not remembered")
	}
}

// PairedHistory returns how much history the session's pairing has asked for; ""
// where that is not known, or there is no session.
func (m *Manager) PairedHistory(ctx context.Context) (bridge.HistoryImport, error) {
	paired, err := m.store.Setting(ctx, settingHistoryPaired)
	return bridge.HistoryImport(paired), err
}

// compareHistory logs that the configuration asks for more history than the
// pairing has.
func (m *Manager) compareHistory(ctx context.Context) {
	if pn, _ := m.own(); pn == "" {
		return
	}
	paired, err := m.PairedHistory(ctx)
	if err != nil {
		m.log.Warn().Err(err).Msg("how much history the pairing has asked for is not known")
		return
	}
	if wanted := m.opts.HistoryImport; wanted.Exceeds(paired) {
		m.log.Warn().Str("HISTORY_IMPORT", string(wanted)).Str("at_pairing", string(paired)).
			Msg("HISTORY_IMPORT asks for more than at the pairing, and the phone sends its history only then: pair again to get it")
	}
}

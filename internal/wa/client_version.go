package wa

import (
	"context"
	"net/http"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waCompanionReg"
	"go.mau.fi/whatsmeow/proto/waWa6"
	"go.mau.fi/whatsmeow/store"
	"google.golang.org/protobuf/proto"
)

// clientPayload returns what the client says of itself when it logs in or pairs.
// The device's name goes in here and not through whatsmeow's package
// variables, which every client of the process would share.
func (l *link) clientPayload(device *store.Device) func() *waWa6.ClientPayload {
	return func() *waWa6.ClientPayload {
		payload := device.GetClientPayload()
		registration := payload.GetDevicePairingData()
		if registration == nil {
			return payload
		}
		var props waCompanionReg.DeviceProps
		if err := proto.Unmarshal(registration.DeviceProps, &props); err != nil {
			l.m.log.Error().Err(err).Msg("device properties unreadable")
			return payload
		}
		props.Os = proto.String(l.m.opts.DeviceName)
		props.PlatformType = waCompanionReg.DeviceProps_CHROME.Enum()
		askForHistory(&props, l.m.opts.HistoryImport)
		encoded, err := proto.Marshal(&props)
		if err != nil {
			l.m.log.Error().Err(err).Msg("device properties not encoded")
			return payload
		}
		registration.DeviceProps = encoded
		return payload
	}
}

// settingVersion keeps the last client version that was looked up.
const settingVersion = "wa_client_version"

// versionTimeout bounds the look-up of the client's version.
const versionTimeout = 10 * time.Second

// prepareVersion sets the last known good client version and looks for a
// newer one. Offline the last one serves.
func (m *Manager) prepareVersion(ctx context.Context) {
	if known, err := m.store.Setting(ctx, settingVersion); err != nil {
		m.log.Warn().Err(err).Msg("client version not read")
	} else if known != "" {
		m.adoptVersion(known)
	}
	m.lookUpVersion(ctx)
}

// adoptVersion sets a remembered version, unless the library's own is newer.
func (m *Manager) adoptVersion(known string) {
	version, err := store.ParseVersion(known)
	if err != nil {
		m.log.Warn().Err(err).Msg("remembered client version unreadable")
		return
	}
	if store.GetWAVersion().LessThan(version) {
		store.SetWAVersion(version)
	}
}

// lookUpVersion asks the network's web page for the present client version,
// and reports whether it differs from the one in use.
func (m *Manager) lookUpVersion(ctx context.Context) bool {
	if m.opts.Network.IsSimulated() {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	client := &http.Client{Transport: m.opts.Network.transport(), Timeout: versionTimeout}
	defer client.CloseIdleConnections()
	latest, err := whatsmeow.GetLatestVersion(ctx, client)
	if err != nil {
		m.log.Warn().Err(err).Msg("client version not looked up")
		return false
	}
	changed := *latest != store.GetWAVersion()
	store.SetWAVersion(*latest)
	if err := m.store.SetSetting(ctx, settingVersion, latest.String()); err != nil {
		m.log.Warn().Err(err).Msg("client version not remembered")
	}
	m.log.Info().Str("version", latest.String()).Msg("client version")
	return changed
}

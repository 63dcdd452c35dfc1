package wa

import (
	"context"
	"fmt"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waCompanionReg"
	"go.mau.fi/whatsmeow/proto/waWa6"
	"google.golang.org/protobuf/proto"

	"bridged/internal/wa/history"
	"bridged/internal/wa/session"
)

// clientPayload returns the description of the client for logging in and pairing. It does not use
// whatsmeow's package variables, because all clients of the process would share them.
func (l *link) clientPayload() *waWa6.ClientPayload {
	payload, version := l.cli.BasePayload(), l.m.clientVersion()
	l.version.Store(version.String())
	payload.UserAgent.AppVersion = version.ProtoAppVersion()
	registration := payload.GetDevicePairingData()
	if registration == nil {
		return payload
	}
	hash := version.Hash()
	registration.BuildHash = hash[:]
	var props waCompanionReg.DeviceProps
	if err := proto.Unmarshal(registration.DeviceProps, &props); err != nil {
		l.m.log.Error().Err(err).Msg("cannot decode the device properties")
		return payload
	}
	props.Os = proto.String(l.m.opts.DeviceName)
	props.PlatformType = waCompanionReg.DeviceProps_CHROME.Enum()
	history.Request(&props, l.m.requestedHistory())
	encoded, err := proto.Marshal(&props)
	if err != nil {
		l.m.log.Error().Err(err).Msg("cannot encode the device properties")
		return payload
	}
	registration.DeviceProps = encoded
	return payload
}

// settingVersion stores the client version that was looked up last.
const settingVersion = "wa_client_version"

// versionTimeout limits the look-up of the client's version.
const versionTimeout = 10 * time.Second

// prepareVersion sets the newest known client version and looks for a newer one, except on a
// simulated network, which accepts any version.
func (m *Manager) prepareVersion(ctx context.Context) {
	if m.opts.ClientVersion != "" {
		m.adoptVersion(m.opts.ClientVersion)
	}
	if known, err := m.store.Setting(ctx, settingVersion); err != nil {
		m.log.Warn().Err(err).Msg("cannot read the client version")
	} else if known != "" {
		m.adoptVersion(known)
	}
	if m.clientVersion().String() != m.opts.ClientVersion && m.opts.ClientVersion != "" {
		m.log.Warn().Str("CLIENT_VERSION", m.opts.ClientVersion).Str("version", m.clientVersion().String()).Msg("CLIENT_VERSION is ignored because a newer version is known")
	}
	if m.opts.Network.IsSimulated() {
		return
	}
	_, _ = m.lookUpVersion(ctx, false) // logs its failure; the login shows whether the version works
}

// adoptVersion sets a stored or configured version, unless a newer one is known.
func (m *Manager) adoptVersion(known string) {
	version, err := session.ParseVersion(known)
	if err != nil {
		m.log.Warn().Err(err).Msg("cannot parse the client version")
		return
	}
	if m.clientVersion().LessThan(version) {
		m.version.Store(&version)
	}
}

// clientVersion returns the version that the account's client reports.
func (m *Manager) clientVersion() session.Version {
	if version := m.version.Load(); version != nil {
		return *version
	}
	return session.BuiltInVersion()
}

// lookUpVersion looks up the current client version and reports whether it has changed. A version
// older than CLIENT_VERSION is only used if CLIENT_VERSION was refused.
func (m *Manager) lookUpVersion(ctx context.Context, refused bool) (changed bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	latest, err := LatestClientVersion(ctx, &m.opts.Network)
	if err != nil {
		m.log.Warn().Err(err).Msg("cannot look up the client version")
		return false, err
	}
	if m.opts.ClientVersion != "" && !refused && latest.LessThan(m.clientVersion()) {
		return false, nil
	}
	changed = *latest != m.clientVersion()
	m.version.Store(latest)
	if err := m.store.SetSetting(ctx, settingVersion, latest.String()); err != nil {
		m.log.Warn().Err(err).Msg("cannot store the client version")
	}
	m.log.Info().Str("version", latest.String()).Msg("client version")
	return changed, nil
}

// refusedVersion returns the start of the status' sentences about a refused version.
func (m *Manager) refusedVersion() string {
	// Remedy: allow access to `https://web.whatsapp.com`, set `CLIENT_VERSION`, or update bridged
	// ([client versions](#client-versions)).
	return fmt.Sprintf("the network refuses this client's version (%s)", m.clientVersion())
}

// renewVersion looks for a newer version than the refused one. It returns the pause until the
// next attempt and the status' sentence.
func (m *Manager) renewVersion(ctx context.Context) (wait time.Duration, sentence string) {
	refused, hourly := m.refusedVersion(), time.Duration(m.hourly.Load())
	changed, err := m.lookUpVersion(ctx, true)
	switch {
	case err != nil:
		return hourly, refused + ", and the newest one cannot be looked up: let this machine reach https://web.whatsapp.com, or set PROXY_URL or CLIENT_VERSION, or update bridged; trying again hourly"
	case !changed:
		return hourly, refused + ", which is the newest one that it names: update bridged; trying again hourly"
	}
	return 0, fmt.Sprintf("%s; trying again as %s", refused, m.clientVersion())
}

// CheckClientVersion returns an error unless text has the form of a WhatsApp Web version.
func CheckClientVersion(text string) error {
	version, err := session.ParseVersion(text)
	if err != nil || version[0] != 2 || version[1] != 3000 || version[2] == 0 || version.String() != text {
		return fmt.Errorf("not of the form 2.3000.N")
	}
	return nil
}

// ClientVersion returns the version that the account's client reports unless it looks up a newer
// one.
func ClientVersion() string { return session.BuiltInVersion().String() }

// LatestClientVersion asks the network for the version of WhatsApp Web.
func LatestClientVersion(ctx context.Context, network *Network) (*session.Version, error) {
	client := network.Client()
	client.Timeout = versionTimeout
	defer client.CloseIdleConnections()
	return whatsmeow.GetLatestVersion(ctx, client)
}

package wa

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"

	"bridged/internal/bridge"
)

// Codes of the network that end a connection or refuse a login although the session is valid.
const (
	codeTooMany     = "429" // too many logins
	codeUnavailable = "503" // also while a server restarts
)

const (
	// firstLoginPause is the pause after the first 429, which doubles with each further one.
	firstLoginPause   = time.Minute
	longestLoginPause = 30 * time.Minute
	// restarts is how many 503 in a row are a server that restarts, and retried as a lost connection is.
	restarts = 2
)

// settingLoginPause is the pause of an earlier run: its end in Unix seconds, its number and its code.
const settingLoginPause = "login_pause"

// loginPause prevents logins after the network has refused too many of them.
type loginPause struct {
	mu          sync.Mutex
	unavailable int       // 503 in a row; guarded by mu
	number      int       // of the pause, in a row; guarded by mu
	until       time.Time // guarded by mu
	code        string    // why; guarded by mu
}

// refused notes that the network has answered with a code, and returns how long to pause; 0 is no pause.
func (p *loginPause) refused(code string, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if code == codeUnavailable {
		if p.unavailable++; p.unavailable <= restarts {
			return 0
		}
	}
	wait := longestLoginPause
	if p.number < 5 { // 32 minutes are too long
		wait = firstLoginPause << p.number
	}
	wait += time.Duration(rand.Int64N(int64(wait) / 20)) // so that many accounts do not log in at one moment
	p.number++
	p.until, p.code = now.Add(wait), code
	return wait
}

// worked forgets the pauses after a login that lasted, and reports whether there were any.
func (p *loginPause) worked() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	had := p.number > 0
	p.unavailable, p.number, p.until, p.code = 0, 0, time.Time{}, ""
	return had
}

// present returns how long the present pause lasts, and its sentence; 0 is no pause.
func (p *loginPause) present(now time.Time) (left time.Duration, sentence string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if left = p.until.Sub(now); left <= 0 {
		return 0, ""
	}
	sentence = "the network refuses logins for now, because there were too many (code 429)"
	if p.code == codeUnavailable {
		sentence = "the network has refused several logins in a row (code 503)"
	}
	return left, sentence + ": trying again at " + bridge.At(p.until).String()
}

// encode returns the pause as it is stored, "" for none.
func (p *loginPause) encode() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.number == 0 {
		return ""
	}
	return fmt.Sprintf("%d %d %s", p.until.Unix(), p.number, p.code)
}

// decode sets the pause that was stored. It ignores an unreadable text.
func (p *loginPause) decode(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var until int64
	var number int
	var code string
	if _, err := fmt.Sscan(text, &until, &number, &code); err == nil && number > 0 {
		p.until, p.number, p.code = time.Unix(until, 0), number, code
	}
}

// loadLoginPause reads the pause of an earlier run.
func (m *Manager) loadLoginPause(ctx context.Context) error {
	stored, err := m.store.Setting(ctx, settingLoginPause)
	m.loginPause.decode(stored)
	return err
}

// pauseLogins notes that the network has refused a login with a code. It returns how long to pause, and the status'
// sentence; 0 is no pause.
func (m *Manager) pauseLogins(code string) (wait time.Duration, sentence string) {
	now := time.Now()
	if m.loginPause.refused(code, now) == 0 {
		return 0, ""
	}
	m.keepSetting(settingLoginPause, m.loginPause.encode())
	wait, sentence = m.loginPause.present(now)
	m.log.Warn().Str("code", code).Dur("retry_in", wait).Msg("the network refuses logins; pausing")
	return wait, sentence
}

// endLoginPauses forgets the pauses, because a login lasted or the session is gone.
func (m *Manager) endLoginPauses() {
	if m.loginPause.worked() {
		m.keepSetting(settingLoginPause, "")
	}
}

// loginWait returns how long the account may not log in, because of a ban or a pause, and the status' sentence; 0 is no
// wait.
func (m *Manager) loginWait() (wait time.Duration, sentence string) {
	wait, sentence = m.ban.present()
	if paused, why := m.loginPause.present(time.Now()); paused > wait {
		return paused, why
	}
	return wait, sentence
}

// pausedUntil returns the end of what loginWait returns.
func (m *Manager) pausedUntil() time.Time {
	m.ban.mu.Lock()
	until := m.ban.until
	m.ban.mu.Unlock()
	m.loginPause.mu.Lock()
	defer m.loginPause.mu.Unlock()
	if m.loginPause.until.After(until) {
		return m.loginPause.until
	}
	return until
}

// noteRefusal reads the code of a stanza that ends the connection. whatsmeow makes an event of some codes alone, and
// perhaps after the event of the connection's end.
func (l *link) noteRefusal(node *waBinary.Node) {
	code := ""
	switch attrs := node.AttrGetter(); node.Tag {
	case "stream:error":
		code = attrs.OptionalString("code")
	case "failure":
		code = attrs.OptionalString("reason")
	}
	if code == codeTooMany || code == codeUnavailable {
		l.notify(notice{kind: noticeThrottled, code: code})
	}
}

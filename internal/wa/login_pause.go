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

// The network ends a connection or refuses a login with these codes although the session is
// valid.
const (
	codeTooMany     = "429" // too many logins
	codeUnavailable = "503" // also while a server restarts
)

const (
	// firstLoginPause is the pause after the first 429. It doubles with each further one.
	firstLoginPause   = time.Minute
	longestLoginPause = 30 * time.Minute
	// restarts is how many consecutive 503 mean a restarting server. They are retried like a lost
	// connection.
	restarts = 2
)

// settingLoginPause stores the pause of an earlier run: its end in Unix seconds, its number and
// its code.
const settingLoginPause = "login_pause"

// loginPause prevents logins after the network has refused too many of them.
type loginPause struct {
	mu          sync.Mutex
	unavailable int       // consecutive 503; guarded by mu
	number      int       // of consecutive pauses; guarded by mu
	until       time.Time // guarded by mu
	code        string    // the reason; guarded by mu
}

// refused records a refusal with a code and returns how long to pause, or 0.
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
	wait += time.Duration(rand.Int64N(int64(wait) / 20)) // so that many accounts do not log in at the same moment
	p.number++
	p.until, p.code = now.Add(wait), code
	return wait
}

// worked resets the pauses after a login that lasted, and reports whether there were any.
func (p *loginPause) worked() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	had := p.number > 0
	p.unavailable, p.number, p.until, p.code = 0, 0, time.Time{}, ""
	return had
}

// left returns the rest of the current pause and its sentence, or 0.
func (p *loginPause) left(now time.Time) (left time.Duration, sentence string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if left = p.until.Sub(now); left <= 0 {
		return 0, ""
	}
	// Remedy: wait, and find out why there were many logins: a second program with this session, or
	// a connection that breaks again and again.
	sentence = "the network refuses logins for now, because there were too many (code 429)"
	if p.code == codeUnavailable {
		// Remedy: wait.
		sentence = "the network has refused several logins in a row (code 503)"
	}
	return left, sentence + ": trying again at " + bridge.At(p.until).String()
}

// encode returns the pause in its stored form, "" if none.
func (p *loginPause) encode() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.number == 0 {
		return ""
	}
	return fmt.Sprintf("%d %d %s", p.until.Unix(), p.number, p.code)
}

// decode sets the pause from its stored form. It ignores an invalid text.
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

// pauseLogins records that the network has refused a login with a code. It returns how long to
// pause, or 0, and the status' sentence.
func (m *Manager) pauseLogins(code string) (wait time.Duration, sentence string) {
	now := time.Now()
	if m.loginPause.refused(code, now) == 0 {
		return 0, ""
	}
	m.saveSetting(settingLoginPause, m.loginPause.encode())
	wait, sentence = m.loginPause.left(now)
	m.log.Warn().Str("code", code).Dur("retry_in", wait).Msg("the network refuses logins; pausing")
	return wait, sentence
}

// endLoginPauses resets the pauses, because a login lasted or the session is gone.
func (m *Manager) endLoginPauses() {
	if m.loginPause.worked() {
		m.saveSetting(settingLoginPause, "")
	}
}

// loginWait returns how long the account may not log in because of a ban or a pause, or 0, and
// the status' sentence.
func (m *Manager) loginWait() (wait time.Duration, sentence string) {
	wait, sentence = m.ban.left()
	if paused, why := m.loginPause.left(time.Now()); paused > wait {
		return paused, why
	}
	return wait, sentence
}

// pausedUntil returns the end of the wait of loginWait.
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

// noteRefusal reads the code of a stanza that ends the connection. whatsmeow emits an event for
// some codes only, possibly after the event for the connection's end.
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

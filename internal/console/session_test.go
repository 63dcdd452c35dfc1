package console_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
)

// rows are stored sessions.
type rows struct {
	all    []bridge.ConsoleSession
	token  string // that they are bound to
	last   int64
	writes int   // of the last use
	fault  error // of all changes
}

func (r *rows) ConsoleSessions(context.Context) ([]bridge.ConsoleSession, string, error) {
	return slices.Clone(r.all), r.token, nil
}

func (r *rows) BindConsoleSessions(_ context.Context, token string) error {
	if r.fault != nil {
		return r.fault
	}
	r.all, r.token = slices.DeleteFunc(r.all, func(one bridge.ConsoleSession) bool { return one.Token == 0 }), token
	return nil
}

func (r *rows) AddConsoleSession(ctx context.Context, one bridge.ConsoleSession, remove []int64) (int64, error) {
	if r.fault != nil {
		return 0, r.fault
	}
	r.last++
	one.ID = r.last
	for secret, token := range tokens {
		if token.ID == one.Token && one.Token != 0 {
			hash := sha256.Sum256([]byte(secret))
			one.TokenHash = hash[:]
		}
	}
	r.all = append(r.all, one)
	return one.ID, r.RemoveConsoleSessions(ctx, remove)
}

func (r *rows) ChangeConsoleSession(_ context.Context, one bridge.ConsoleSession) error {
	r.writes++
	for i := range r.all {
		if r.all[i].ID == one.ID {
			r.all[i].UsedAt, r.all[i].Zone = one.UsedAt, one.Zone
		}
	}
	return nil
}

func (r *rows) RemoveConsoleSessions(_ context.Context, ids []int64) error {
	if r.fault == nil {
		r.all = slices.DeleteFunc(r.all, func(one bridge.ConsoleSession) bool { return slices.Contains(ids, one.ID) })
	}
	return r.fault
}

const day = 24 * time.Hour

// inNewBrowser goes on in a browser without cookies, and returns a function that goes back to the former one.
func (s *site) inNewBrowser(agent string) (back func()) {
	s.t.Helper()
	former, name := s.client.Jar, s.header.Get("User-Agent")
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.client.Jar = jar
	s.header.Set("User-Agent", agent)
	return func() {
		s.client.Jar = former
		s.header.Set("User-Agent", name)
	}
}

const (
	firefox = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0"
	iPhone  = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1"
)

// Each use extends a session by 30 days, and a page renews its cookie once a day.
func TestSession_EachUseExtendsIt(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.logIn()
	s.header.Set("Accept", "text/html")
	for range 3 {
		s.now = s.now.Add(30*day - time.Second)
		for _, want := range []bool{true, false} {
			cookie := s.get("/console/").want(t, http.StatusOK, "").Header.Get("Set-Cookie")
			if renewed := strings.Contains(cookie, "Max-Age=2592000") && strings.Contains(cookie, "HttpOnly; SameSite=Strict"); renewed != want {
				t.Errorf("the cookie is renewed: %v (%q), want %v", renewed, cookie, want)
			}
		}
	}
	s.now = s.now.Add(30 * day)
	s.get("/console/").want(t, http.StatusSeeOther, "/login")
	if s.logIn(); len(s.rows.all) != 1 {
		t.Errorf("%d sessions are stored", len(s.rows.all))
	}
}

// The last use is stored every five minutes at most, also if the clock was wrong.
func TestSession_TheLastUseIsStoredNowAndThen(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.logIn()
	for step, passed := range []time.Duration{0, 4 * time.Minute, 5 * time.Minute, time.Minute, -365 * day, time.Second} {
		s.now = s.now.Add(passed)
		before := s.rows.writes
		for range 3 {
			s.get("/console/").want(t, http.StatusOK, "")
		}
		want := map[int]int{2: 1, 4: 1}[step]
		if got := s.rows.writes - before; got != want {
			t.Errorf("after %v more: %d writes, want %d", passed, got, want)
		}
	}
	if used := s.rows.all[0].UsedAt; s.now.Sub(used.Time) > 5*time.Minute || used.After(s.now) {
		t.Errorf("stored is a use at %s, and it is %s", used, s.now)
	}
}

// After a restart a session goes on, with its time zone and the forms of open pages. Its secret is not stored, nor is
// BRIDGE_TOKEN.
func TestSession_SurvivesARestart(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	open := s.logIn()
	back := s.inNewBrowser(iPhone)
	s.try("brt_LIMITED").want(t, http.StatusSeeOther, "/console/")
	back()
	at, err := url.Parse(s.server.URL + "/console/")
	if err != nil {
		t.Fatal(err)
	}
	stored := s.rows.token
	for _, row := range s.rows.all {
		stored += " " + string(row.Hash) + " " + string(row.TokenHash) + " " + row.Browser + " " + row.Zone
	}
	for _, secret := range []string{s.client.Jar.Cookies(at)[0].Value, token, "brt_LIMITED"} {
		if strings.Contains(stored, secret) {
			t.Errorf("%s is stored: %q", secret, stored)
		}
	}

	s.restart()
	page := s.get("/console/").want(t, http.StatusOK, "")
	if !strings.Contains(page.body, `data-zone="Europe/Berlin"`) || page.csrf() != open.csrf() {
		t.Errorf("after the restart the page is\n%s", page.body)
	}
	if sessions := listed(s.get("/console/settings").body); len(sessions) != 2 || sessions[1].browser != "Safari on iPhone" || sessions[1].token != "desk" {
		t.Errorf("the sessions are %+v", sessions)
	}
	s.do(http.MethodPost, "/console/zone", url.Values{"csrf": {open.csrf()}, "zone": {"Asia/Tokyo"}}).want(t, http.StatusSeeOther, "/console/")
	s.restart()
	if page := s.get("/console/").want(t, http.StatusOK, "").body; !strings.Contains(page, `data-zone="Asia/Tokyo"`) {
		t.Errorf("the zone is not stored:\n%s", page)
	}
	s.do(http.MethodPost, "/console/logout", url.Values{"csrf": {open.csrf()}}).want(t, http.StatusSeeOther, "/login")
	if len(s.rows.all) != 1 {
		t.Errorf("stored after the logout are %+v", s.rows.all)
	}

	s.logIn()
	s.now = s.now.Add(30 * day)
	s.restart()
	if s.get("/console/").want(t, http.StatusSeeOther, "/login"); len(s.rows.all) != 0 {
		t.Errorf("stored after 30 days are %+v", s.rows.all)
	}
}

// A restart with another BRIDGE_TOKEN ends the sessions that were opened with the former one, and no others.
func TestSession_EndsWithAChangedBridgeToken(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.logIn()
	first := s.rows.token
	mine := s.inNewBrowser(iPhone)
	s.try("brt_LIMITED").want(t, http.StatusSeeOther, "/console/")
	theirs := s.client.Jar
	const other = "another-token-of-the-tests-01234"
	s.options.Token = other
	s.options.TokenOf = func(ctx context.Context, hash [sha256.Size]byte) (bridge.Token, bool, error) {
		if hash == sha256.Sum256([]byte(other)) {
			return tokens[token], true, nil
		}
		return s.tokenOf(ctx, hash)
	}
	s.restart()
	s.get("/console/chats").want(t, http.StatusOK, "")
	mine()
	s.get("/console/").want(t, http.StatusSeeOther, "/login")
	if len(s.rows.all) != 1 || s.rows.all[0].Token != 1 {
		t.Errorf("stored are %+v", s.rows.all)
	}
	s.try(other).want(t, http.StatusSeeOther, "/console/")
	if s.rows.token == first || len(s.rows.all) != 2 {
		t.Errorf("stored are %+v, bound to %s", s.rows.all, s.rows.token)
	}
	s.options.Token = token // the former one is the present one again, but its sessions stay ended
	s.options.TokenOf = s.tokenOf
	s.restart()
	s.get("/console/").want(t, http.StatusSeeOther, "/login")
	s.client.Jar = theirs
	s.get("/console/chats").want(t, http.StatusOK, "")
}

// A session ends at once with its token, on every page.
func TestSession_EndsWithItsToken(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.try("brt_LIMITED").want(t, http.StatusSeeOther, "/console/")
	csrf := s.get("/console/chats").want(t, http.StatusOK, "").csrf()
	s.ended = "brt_LIMITED"
	s.do(http.MethodPost, "/console/zone", url.Values{"csrf": {csrf}, "zone": {"Asia/Tokyo"}}).want(t, http.StatusSeeOther, "/login")
	s.ended = ""
	s.get("/console/chats").want(t, http.StatusSeeOther, "/login?next=%2Fconsole%2Fchats")
	if len(s.rows.all) != 0 {
		t.Errorf("stored are %+v", s.rows.all)
	}
}

// shownSession is a session in the list of the settings.
type shownSession struct {
	browser, token, path string
	isOwn                bool
}

var sessionRow = regexp.MustCompile(`(?s)<li><div><strong>([^<]+)</strong>( <span class="badge good">This browser</span>)?(.*?)</li>`)

// listed returns the sessions that a page lists.
func listed(page string) (list []shownSession) {
	_, page, _ = strings.Cut(page, `<ul class="sessions">`)
	page, _, _ = strings.Cut(page, "</ul>")
	for _, row := range sessionRow.FindAllStringSubmatch(page, -1) {
		_, token, _ := strings.Cut(row[3], "Token: <bdi>")
		token, _, _ = strings.Cut(token, "</bdi>")
		path := regexp.MustCompile(`/console/sessions/-?\d+`).FindString(row[3])
		list = append(list, shownSession{row[1], token, path, row[2] != ""})
	}
	return list
}

// The settings list the sessions: with BRIDGE_TOKEN all, with another token its own. Each can be ended, and all
// but the visitor's.
func TestSession_ListOfTheSettings(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	logIn := func(token, agent string) (back func()) {
		t.Helper()
		back = s.inNewBrowser(agent)
		s.try(token).want(t, http.StatusSeeOther, "/console/")
		s.now = s.now.Add(time.Minute)
		return back
	}
	list := func() []shownSession {
		t.Helper()
		return listed(s.get("/console/settings").want(t, http.StatusOK, "").body)
	}
	names := func(list []shownSession) (all []string) {
		for _, one := range list {
			all = append(all, one.browser+map[bool]string{true: "*"}[one.isOwn]+one.token)
		}
		return all
	}
	end := func(path string, status int) {
		t.Helper()
		csrf := s.get("/console/settings").csrf()
		if got := s.do(http.MethodPost, path, url.Values{"csrf": {csrf}}); got.StatusCode != status {
			t.Errorf("%s: %d, want %d\n%s", path, got.StatusCode, status, got.body)
		}
	}
	logIn(token, firefox)
	operator := s.client.Jar
	logIn("brt_LIMITED", iPhone)
	desk := s.client.Jar
	logIn("brt_LIMITED", "curl/8.5.0")
	other := s.client.Jar
	logIn("brt_ITSCHILD", firefox)

	s.client.Jar = desk
	own := list()
	if got, want := names(own), []string{"Safari on iPhone*", "Unknown browser"}; !slices.Equal(got, want) {
		t.Fatalf("with a limited token: %q, want %q", got, want)
	}
	s.now = s.now.Add(time.Minute)
	s.client.Jar = operator
	all := list()
	if got, want := names(all), []string{"Firefox on Windows*", "Safari on iPhonedesk", "Firefox on Windowschild", "Unknown browserdesk"}; !slices.Equal(got, want) {
		t.Fatalf("with BRIDGE_TOKEN: %q, want %q", got, want)
	}
	s.client.Jar = desk
	end(all[2].path, http.StatusNotFound)           // of another token
	end("/console/sessions/1", http.StatusNotFound) // of BRIDGE_TOKEN
	end("/console/sessions/2", http.StatusNotFound) // the visitor's
	s.do(http.MethodPost, own[1].path, url.Values{"csrf": {"guessed"}}).want(t, http.StatusForbidden, "")
	end(own[1].path, http.StatusSeeOther)
	if page := s.get("/console/settings").body; !strings.Contains(page, "Unknown browser was logged out.") || len(listed(page)) != 1 || strings.Contains(page, "Log out everywhere else") {
		t.Errorf("afterwards the page is\n%s", page)
	}
	s.client.Jar = other
	s.get("/console/chats").want(t, http.StatusSeeOther, "/login?next=%2Fconsole%2Fchats")
	s.try("brt_LIMITED")
	end("/console/sessions", http.StatusSeeOther) // ends desk, and no session of another token
	s.client.Jar = desk
	s.get("/console/chats").want(t, http.StatusSeeOther, "/login?next=%2Fconsole%2Fchats")
	s.client.Jar = operator
	if got := len(list()); got != 3 {
		t.Errorf("%d sessions are left", got)
	}
	s.ended = "brt_ITSCHILD"
	if got := len(list()); got != 2 {
		t.Errorf("%d sessions are listed after one's token has ended", got)
	}
	end("/console/sessions", http.StatusSeeOther)
	if got := names(list()); len(got) != 1 || len(s.rows.all) != 1 {
		t.Errorf("everywhere else is logged out, and there are %q", got)
	}
}

// A session whose row cannot be removed ends all the same. It stays in the list until its row is gone.
func TestSession_EndsIfTheStoreCannotBeWritten(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.logIn()
	back := s.inNewBrowser(iPhone)
	s.logIn()
	phone := s.client.Jar
	back()
	page := s.get("/console/settings")
	path := listed(page.body)[1].path
	s.rows.fault = errors.New("database or disk is full")
	s.do(http.MethodPost, path, url.Values{"csrf": {page.csrf()}}).want(t, http.StatusServiceUnavailable, "")
	mine := s.client.Jar
	s.client.Jar = phone
	s.get("/console/").want(t, http.StatusSeeOther, "/login")
	s.client.Jar = mine
	s.rows.fault = nil
	s.do(http.MethodPost, path, url.Values{"csrf": {page.csrf()}}).want(t, http.StatusSeeOther, "/console/settings#sessions")
	if len(s.rows.all) != 1 || len(listed(s.get("/console/settings").body)) != 1 {
		t.Errorf("left are %+v", s.rows.all)
	}
}

// A session that cannot be stored works until the next restart.
func TestSession_IsOpenedIfTheStoreCannotBeWritten(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.rows.fault = errors.New("database or disk is full")
	csrf := s.logIn().csrf()
	if list := listed(s.get("/console/settings").body); len(list) != 1 || !list[0].isOwn {
		t.Errorf("listed are %+v", list)
	}
	s.now = s.now.Add(time.Hour)
	s.get("/console/").want(t, http.StatusOK, "")
	if s.rows.writes != 0 {
		t.Error("the use of a session without a row is stored")
	}
	s.do(http.MethodPost, "/console/logout", url.Values{"csrf": {csrf}}).want(t, http.StatusSeeOther, "/login")
	s.get("/console/").want(t, http.StatusSeeOther, "/login")
}

// There are 64 sessions of a token tree at most, so that it cannot end those of others. The one that has not been
// used for the longest time makes room.
func TestSession_TheOldestMakeRoom(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.logIn()
	mine := s.client.Jar
	s.inNewBrowser(iPhone)
	s.try("brt_LIMITED")
	first := s.client.Jar
	s.now = s.now.Add(time.Second)
	s.inNewBrowser(iPhone)
	s.try("brt_ITSCHILD")
	second := s.client.Jar
	for range 62 {
		s.now = s.now.Add(time.Second)
		s.inNewBrowser(iPhone)
		s.try("brt_LIMITED")
	}
	s.client.Jar = first
	s.now = s.now.Add(time.Second)
	s.get("/console/chats").want(t, http.StatusOK, "")
	s.inNewBrowser(iPhone)
	s.try("brt_LIMITED").want(t, http.StatusSeeOther, "/console/")
	s.client.Jar = second
	s.get("/console/chats").want(t, http.StatusSeeOther, "/login?next=%2Fconsole%2Fchats")
	s.client.Jar = first
	s.get("/console/chats").want(t, http.StatusOK, "")
	s.client.Jar = mine
	s.get("/console/").want(t, http.StatusOK, "")
	if len(s.rows.all) != 65 {
		t.Errorf("%d sessions are stored", len(s.rows.all))
	}
}

package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
)

func (a *account) Profile(ctx context.Context, person bridge.JID) (bridge.Profile, error) {
	profile := bridge.Profile{JID: person, About: new("At the lake"), AskedAt: bridge.At(noon)}
	return profile, errors.Join(a.ready(), a.do(ctx, "profile "+string(person)))
}

func (a *account) UpdateAccount(ctx context.Context, patch bridge.AccountPatch) error {
	return a.doJSON(ctx, "account", patch)
}

func (a *account) SetPicture(ctx context.Context, picture []byte) (string, error) {
	if picture == nil {
		return "", a.do(ctx, "no picture")
	}
	return "the new one", a.do(ctx, "picture "+http.DetectContentType(picture))
}

func (a *account) Privacy(ctx context.Context) (bridge.Privacy, error) {
	return bridge.Privacy{LastSeen: new("contact_blacklist"), Defense: new("off")}, errors.Join(a.ready(), a.act(ctx))
}

func (a *account) SetPrivacy(ctx context.Context, p bridge.Privacy) error {
	return a.doJSON(ctx, "privacy", p.Fields())
}

func (a *account) CreateLabel(ctx context.Context, name string, color int) (bridge.Label, error) {
	label := bridge.Label{ID: "5", Name: name, Color: color}
	return label, a.ChangeLabel(ctx, label, false)
}

func (a *account) ChangeLabel(ctx context.Context, label bridge.Label, deletes bool) error {
	if err := a.do(ctx, fmt.Sprintf("label %+v deleted %v", label, deletes)); err != nil {
		return err
	}
	return a.store.Save(ctx, bridge.LabelChange{Label: label, Deleted: deletes, Timestamp: bridge.At(time.Now())})
}

func (a *account) LabelChat(ctx context.Context, chat bridge.JID, label string, labelled bool) error {
	if err := a.do(ctx, fmt.Sprintf("label %s %s %v", chat, label, labelled)); err != nil {
		return err
	}
	return a.store.Save(ctx, bridge.ChatLabel{Chat: chat, Label: label, Labelled: labelled, Timestamp: bridge.At(time.Now())})
}

func (a *account) LabelMessage(ctx context.Context, m bridge.Message, label string, labelled bool) error {
	if err := a.do(ctx, fmt.Sprintf("label %s %s %s %v", m.Chat, m.ID, label, labelled)); err != nil {
		return err
	}
	return a.store.Save(ctx, bridge.MessageLabel{Chat: m.Chat, Target: m.ID, By: me, Label: label, Labelled: labelled, Timestamp: bridge.At(time.Now())})
}

func (a *account) doJSON(ctx context.Context, what string, value any) error {
	data, err := json.Marshal(value)
	return errors.Join(err, a.do(ctx, fmt.Sprintf("%s %s", what, data)))
}

func TestProfile_HasBothNames(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	s.know(bridge.Identity{PN: grace, LID: graceLID})
	var got bridge.Profile
	s.Get("/api/contacts/" + string(graceLID) + "/profile").Want(http.StatusOK).Decode(&got)
	if got.JID != grace || got.LID != graceLID || *got.About != "At the lake" || got.Business != nil {
		t.Errorf("%+v", got)
	}
}

// A repeated call with a key changes nothing.
func TestAccount_Changes(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	for range 2 {
		var changed struct{ Changed []string }
		s.Do("PATCH", "/api/account", `{"about":"","name":"Ada"}`, "Idempotency-Key", "one").Want(http.StatusOK).Decode(&changed)
		if want := []string{"name", "about"}; !slices.Equal(changed.Changed, want) {
			t.Errorf("changed %v", changed)
		}
		s.Do("PATCH", "/api/account/privacy", `{"defense":"off","lastSeen":"none"}`, "Idempotency-Key", "two").Want(http.StatusOK).Decode(&changed)
		if want := []string{"lastSeen", "defense"}; !slices.Equal(changed.Changed, want) {
			t.Errorf("changed %v", changed)
		}
		var picture struct{ PictureID string }
		s.Do("PUT", "/api/account/picture", square, "Content-Type", "image/png", "Idempotency-Key", "three").Want(http.StatusOK).Decode(&picture)
		if picture.PictureID != "the new one" {
			t.Errorf("%+v", picture)
		}
		s.Do("DELETE", "/api/account/picture", "", "Idempotency-Key", "four").Want(http.StatusOK).Decode(&picture)
		if picture.PictureID != "" {
			t.Errorf("%+v", picture)
		}
	}
	want := []string{`account {"name":"Ada","about":""}`, `privacy ["lastSeen","defense"]`, "picture image/jpeg", "no picture"}
	if done := s.account.done(); !slices.Equal(done, want) {
		t.Errorf("done %q", done)
	}
	var privacy bridge.Privacy
	s.Get("/api/account/privacy").Want(http.StatusOK).Decode(&privacy)
	if *privacy.LastSeen != "contact_blacklist" || privacy.Online != nil {
		t.Errorf("%+v", privacy)
	}
}

// What the account is called is the business of who administers it: a token that may send to one
// chat, or to all, changes nothing.
func TestAccount_IsChangedByItsAdministratorsAlone(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	for _, token := range []string{
		`{"name":"x","scopes":["read","send"]}`,
		`{"name":"x","scopes":["read","send","manage"],"chats":["` + string(grace) + `"]}`,
	} {
		caller := s.as(s.token(token))
		caller.Do("PATCH", "/api/account", `{"name":"Mallory"}`).Want(http.StatusForbidden)
		caller.Do("PATCH", "/api/account/privacy", `{"lastSeen":"all"}`).Want(http.StatusForbidden)
		caller.Do("PUT", "/api/account/picture", strings.Repeat("x", 1<<16), "Content-Type", "image/png").Want(http.StatusForbidden)
		caller.Do("DELETE", "/api/account/picture", "").Want(http.StatusForbidden)
	}
	if done := s.account.done(); len(done) != 0 {
		t.Errorf("done %q", done)
	}
}

// What the network refuses comes with its name on every route.
func TestAccount_RefusalsHaveTheirStatus(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	for _, r := range everyRoute {
		if !r.own && !strings.HasSuffix(r.path, "/profile") && !strings.HasSuffix(r.path, "/privacy") {
			continue
		}
		for code, status := range map[bridge.Code]int{bridge.CodeRateLimited: 429, bridge.CodeSendRefused: 502, bridge.CodeSendTimeout: 504} {
			if r.method != "GET" || status != http.StatusGatewayTimeout {
				s.account.refuseAll(bridge.Fail(code, "no"))
				s.expect(r, r.body, string(code), status, string(code))
			}
		}
	}
}

// A key belongs to one call, and another one with it is refused: while the first is in progress, and ever
// after with another request.
func TestAccount_AKeyIsForOneCall(t *testing.T) {
	t.Parallel()
	onEvery(t, changingAccount, func(t *testing.T, s *server, r route) {
		s.expect(r, r.body, "a key that is too long", 400, "invalid_request", "Idempotency-Key", strings.Repeat("k", 256))
		s.Post("/api/messages/send", `{"jid":"`+string(grace)+`","text":"hi"}`, "Idempotency-Key", "sent").Want(http.StatusOK)
		s.expect(r, r.body, "the key of a message", 422, "idempotency_mismatch", "Idempotency-Key", "sent")

		entered, proceed, done := make(chan struct{}), make(chan struct{}), make(chan int)
		s.account.act = func(context.Context) error {
			close(entered)
			<-proceed
			return nil
		}
		go func() {
			status, _ := s.call(r, r.body, "Idempotency-Key", "k")
			done <- status
		}()
		<-entered
		s.expect(r, r.body, "meanwhile", 409, "request_in_progress", "Idempotency-Key", "k")
		close(proceed)
		if status := <-done; status != http.StatusOK && status != http.StatusCreated {
			t.Errorf("the first call: %d", status)
		}
	})
}

// Routes without fields refuse large bodies, too.
func TestLabels_LargeBodies(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	for _, r := range everyRoute {
		if strings.Contains(r.path, "/labels/") && r.method != "PATCH" {
			s.expect(r, strings.Repeat(" ", 1<<20+1), "a large body", 413, "payload_too_large")
		}
	}
}

package wa_test

import (
	"bytes"
	picture "image"
	"image/jpeg"
	"reflect"
	"slices"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// squareJPEG returns a picture as the network takes it.
func squareJPEG(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := jpeg.Encode(&out, picture.NewGray(picture.Rect(0, 0, 640, 640)), nil); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestUpdateAccount_ShowsOnThePhoneAndToOthers: name, about text and picture, also after lost
// answers, and the refusal of one.
func TestUpdateAccount_ShowsOnThePhoneAndToOthers(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	for i, patch := range []bridge.AccountPatch{
		{Name: new("Alex Ltd"), About: new("Open until six")}, {About: new("")}, {Name: new("Alex")},
	} {
		if i == 1 {
			a.device().FailQueries(simnet.IQFault{Namespace: "w:mex", LoseAnswer: true, HangUp: true, Times: 1})
		}
		if err := a.manager.UpdateAccount(ctx, patch); err != nil {
			t.Fatal(err)
		}
		if patch.About != nil && a.phone.Shown().About != *patch.About {
			t.Errorf("the account shows %+v", a.phone.Shown())
		}
		if patch.Name != nil {
			eventually(t, "the new name", func() bool {
				return a.phone.Shown().Name == *patch.Name && a.manager.Status().User.PushName == *patch.Name
			})
		}
	}
	if err := a.phone.SetPushName(ctx, "By the Phone"); err != nil { // the state is whole
		t.Fatal(err)
	}
	eventually(t, "the phone's name", func() bool { return a.manager.Status().User.PushName == "By the Phone" })

	id, err := a.manager.SetPicture(ctx, squareJPEG(t))
	if err != nil || id == "" || a.phone.Shown().Picture != id {
		t.Errorf("picture %q, %v; the account shows %+v", id, err, a.phone.Shown())
	}
	for range 2 { // removing it again changes nothing
		if id, err := a.manager.SetPicture(ctx, nil); err != nil || id != "" || a.phone.Shown().Picture != "" {
			t.Errorf("removed: %q, %v; the account shows %+v", id, err, a.phone.Shown())
		}
	}
	if _, err := a.manager.SetPicture(ctx, []byte("not a picture")); bridge.CodeOf(err) != bridge.CodeSendRefused {
		t.Errorf("not a picture: %v", err)
	}
	a.device().FailQueries(simnet.IQFault{Namespace: "w:mex", Code: 429, Text: "rate-overlimit", Times: 1})
	err = a.manager.UpdateAccount(ctx, bridge.AccountPatch{Name: new("Alex"), About: new("x")})
	if bridge.CodeOf(err) != bridge.CodeRateLimited || !slices.Equal(err.(*bridge.Error).Changed, []string{"name"}) {
		t.Errorf("refused: %v", err)
	}
}

// TestPrivacy_IsTheAccounts: each setting, by this device and by another one.
func TestPrivacy_IsTheAccounts(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	var all bridge.Privacy
	for i, setting := range all.All() {
		*setting.Value = new([]string{"none", "all", "contacts"}[i%3])
	}
	if err := a.manager.SetPrivacy(ctx, all); err != nil {
		t.Fatal(err)
	}
	if got, err := a.manager.Privacy(ctx); err != nil || !reflect.DeepEqual(got, all) {
		t.Errorf("read %+v, %v", got, err)
	}
	if _, err := a.phone.Client().SetPrivacySetting(ctx, types.PrivacySettingTypeLastSeen, types.PrivacySettingContacts); err != nil {
		t.Fatal(err)
	}
	if got, err := a.manager.Privacy(ctx); err != nil || *got.LastSeen != "contacts" || *got.Online != *all.Online {
		t.Errorf("read %+v, %v after the phone's change", got, err)
	}
}

// TestProfile_IsWhatThePersonShows, once a day, or until they have changed it.
func TestProfile_IsWhatThePersonShows(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	shop, err := network.NewPhone(ctx, simnet.PhoneOptions{Number: "15550100302", Name: "Corner Shop", Business: true})
	if err != nil {
		t.Fatal(err)
	}
	setAbout := func(text string) {
		t.Helper()
		if err := friend.Client().SetStatusMessage(ctx, types.SetStatusInput{Text: &text}); err != nil {
			t.Fatal(err)
		}
	}
	asks := func(jid bridge.JID) bridge.Profile {
		t.Helper()
		got, err := a.manager.Profile(ctx, jid)
		if err != nil || got.JID != jid || time.Since(got.AskedAt.Time) > time.Hour {
			t.Fatalf("%+v, %v", got, err)
		}
		return got
	}
	setAbout("At the lake")
	if got := asks(jidOf(friend)); got.About == nil || *got.About != "At the lake" || got.Business != nil || got.Verified {
		t.Errorf("of a person: %+v", got)
	}
	a.device().FailQueries(simnet.IQFault{Namespace: "usync", Code: 429, Text: "rate-overlimit", Times: 1})
	asks(jidOf(friend)) // the network is not asked again
	if _, err := a.manager.Profile(ctx, jidOf(shop)); bridge.CodeOf(err) != bridge.CodeRateLimited {
		t.Errorf("limited by the network: %v", err)
	}
	setAbout("Home again")
	eventually(t, "the new text", func() bool { return *asks(jidOf(friend)).About == "Home again" })

	shop.SetBusiness(simnet.BusinessProfile{
		Description: "Bread and milk", Address: "1 Main Street", Email: "shop@example.com",
		Websites: []string{"https://shop.example.com"}, Categories: []string{"Grocery"}, Timezone: "Europe/Rome",
		Hours: []simnet.BusinessDay{{Day: "mon", Mode: "specific_hours", Opens: "540", Closes: "1110"}, {Day: "sun", Mode: "open_24h"}},
	}, true)
	want := &bridge.BusinessProfile{
		Name: "Corner Shop", Description: "Bread and milk", Address: "1 Main Street", Email: "shop@example.com",
		Websites: []string{"https://shop.example.com"}, Categories: []string{"Grocery"},
		Hours: &bridge.BusinessHours{Timezone: "Europe/Rome", Days: []bridge.BusinessDay{
			{Day: "mon", Mode: bridge.OpenHours, Opens: new("09:00"), Closes: new("18:30")}, {Day: "sun", Mode: bridge.OpenAllDay},
		}},
	}
	if got := asks(jidOf(shop)); got.About != nil || !got.Verified || !reflect.DeepEqual(got.Business, want) {
		t.Errorf("of a business: %+v, %+v", got, got.Business)
	}
	if contact, err := a.store.Contact(ctx, jidOf(shop)); err != nil || contact.BusinessName != "Corner Shop" {
		t.Errorf("stored %+v, %v", contact, err)
	}
}

// TestProfile_IsLimitedLikeLookUps: tokens leave some of the look-ups to BRIDGE_TOKEN, and are told
// when there are more.
func TestProfile_IsLimitedLikeLookUps(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	ofToken := bridge.WithTree(ctx, 7)
	if err := a.store.ReserveLookUps(ofToken, 150, 150); err != nil {
		t.Fatal(err)
	}
	if _, err := a.manager.Profile(ofToken, jidOf(friend)); bridge.CodeOf(err) != bridge.CodeLookUpsLimited || err.(*bridge.Error).RetryAfter == 0 {
		t.Errorf("of a token: %v", err)
	}
	if _, err := a.manager.Profile(ctx, jidOf(friend)); err != nil {
		t.Errorf("of BRIDGE_TOKEN: %v", err)
	}
	if _, err := a.manager.Profile(ofToken, jidOf(friend)); err != nil {
		t.Errorf("known by now: %v", err)
	}
}

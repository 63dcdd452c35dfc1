package compat

import (
	"fmt"
	"slices"
	"testing"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// Labels as WAHA's and Evolution's clients create them and put them on chats: the owner's phone shows them.
func TestCompat_Labels(t *testing.T) {
	t.Parallel()
	s := NewCompatScene(t)
	base, sam := s.Address+"/waha/api/default/labels", "15550100301@c.us"
	key := map[string]string{"X-Api-Key": s.Full, "Content-Type": "application/json"}
	ask := func(name, method, path, body string, status int, reads map[string]any) compatCase {
		return compatCase{name, CompatRequest{Method: method, Address: base + path, Header: key, Body: body}, status, reads}
	}
	onPhone := func(want ...string) {
		t.Helper()
		if got := Must(s.Owner.LabelsOf(Within(t), s.Friend.PN(), ""))(t); !slices.Equal(got, want) {
			t.Errorf("the phone shows the labels %v on the chat, want %v", got, want)
		}
	}
	check(s, t, []compatCase{
		ask("an account without labels", "GET", "", "", 400, map[string]any{"message": ".*WhatsApp Business.*"}),
	})
	if err := s.Owner.EditLabel(Within(t), "7", "By the phone", 2); err != nil {
		t.Fatal(err)
	}
	Eventually(t, func() error {
		if labels, err := s.API.Labels(Within(t)); err != nil || len(labels) != 1 {
			return fmt.Errorf("the labels are %v, %w", labels, err)
		}
		return nil
	})
	check(s, t, []compatCase{
		ask("labels", "GET", "", "", 200, map[string]any{"0.id": "7", "0.name": "By the phone", "0.color": 2.0, "0.colorHex": "#ffd429"}),
		ask("a new one, as n8n sends it", "POST", "", `{"name":"Lead","colorHex":"#FF9485","color":null}`, 201, map[string]any{"id": "8", "name": "Lead", "color": 0.0}),
		ask("two colours", "POST", "", `{"name":"Lead","colorHex":"#ff9485","color":1}`, 400, map[string]any{"message": "give either color or colorHex"}),
		ask("no such colour", "POST", "", `{"name":"Lead","colorHex":"#123456"}`, 400, map[string]any{"message": "colorHex must be one of #ff9485, .*"}),
		ask("changed", "PUT", "/8", `{"name":"Customer","color":3}`, 200, map[string]any{"name": "Customer", "colorHex": "#dfaef0"}),
		ask("on a chat", "PUT", "/chats/"+sam+"/", `{"labels":[{"id":"7"},{"id":"8"}]}`, 200, map[string]any{"success": true}),
		ask("of a chat", "GET", "/chats/"+sam+"/", "", 200, map[string]any{"0.id": "7", "1.id": "8", "1.name": "Customer"}),
		ask("chats with it", "GET", "/8/chats", "", 200, map[string]any{"0.id": `15550100301@c\.us`, "1": nil}),
		ask("one that does not exist", "PUT", "/chats/"+sam, `{"labels":[{"id":"8"},{"id":"9"}]}`, 404, map[string]any{"message": `labels\[1\]\.id: there is no label "9".*`}),
		ask("without a list", "PUT", "/chats/"+sam, `{}`, 400, map[string]any{"message": "labels is missing.*"}),
	})
	onPhone("7", "8")
	check(s, t, []compatCase{ask("another list", "PUT", "/chats/"+sam, `{"labels":[{"id":"8"}]}`, 200, nil)})
	onPhone("8")

	e := evolution{s, s.Full}
	if list := e.call(t, 200, "GET", "label/findLabels", "", ""); At(list, "1.id") != "8" || At(list, "1.color") != "3" || At(list, "1.predefinedId") != nil {
		t.Errorf("Evolution's labels are %v", list)
	}
	if done := e.call(t, 200, "POST", "label/handleLabel", "", `{"number":"15550100301","labelId":"7","action":"add"}`); At(done, "numberJid") != string(NumberOf(s.Friend)) || At(done, "add") != true {
		t.Errorf("labelled: %v", done)
	}
	onPhone("7", "8")
	e.call(t, 200, "POST", "label/handleLabel", "", `{"number":"15550100301","labelId":"7","action":"remove"}`)
	e.call(t, 404, "POST", "label/handleLabel", "", `{"number":"15550100301","labelId":"9","action":"add"}`)
	e.call(t, 400, "POST", "label/handleLabel", "", `{"number":"15550100301","labelId":"7","action":"toggle"}`)
	onPhone("8")
	check(s, t, []compatCase{ask("deleted", "DELETE", "/8", "", 200, map[string]any{"result": true})})
	if names := Must(s.Owner.Labels(Within(t)))(t); len(names) != 1 || names["7"] != "By the phone" {
		t.Errorf("the phone shows the labels %v", names)
	}
}

// What the account shows about itself, as WAHA's and Evolution's clients change it.
func TestCompat_Profile(t *testing.T) {
	t.Parallel()
	s := NewCompatScene(t)
	e := evolution{s, s.Token(t, "administrator", nil, bridge.ScopeRead, bridge.ScopeManage)}
	base := s.Address + "/waha/api"
	ask := func(name, method, path, body string, status int, reads map[string]any) compatCase {
		return compatCase{name, CompatRequest{Method: method, Address: base + path, Header: map[string]string{"X-Api-Key": e.key, "Content-Type": "application/json"}, Body: body}, status, reads}
	}
	if err := s.Friend.Client().SetStatusMessage(Within(t), types.SetStatusInput{Text: new("At the lake")}); err != nil {
		t.Fatal(err)
	}
	picture := InBase64(Portrait(t, 300, 90))
	shows := func(about string, hasPicture bool) {
		t.Helper()
		if shown := s.Owner.Shown(); shown.About != about || (shown.Picture != "") != hasPicture {
			t.Errorf("the account shows %+v, want %q and a picture %v", shown, about, hasPicture)
		}
	}
	check(s, t, []compatCase{
		ask("a profile", "GET", "/default/profile", "", 200, map[string]any{"id": `\d+@c\.us`, "name": "Olga", "picture": nil}),
		ask("the about text", "PUT", "/default/profile/status", `{"status":"at work"}`, 200, map[string]any{"success": true}),
		ask("one that is too long", "PUT", "/default/profile/status", fmt.Sprintf(`{"status":"%0200d"}`, 1), 400, map[string]any{"message": "status must have at most 139 .*"}),
		ask("no about text", "PUT", "/default/profile/status", `{}`, 400, map[string]any{"message": "status is missing.*"}),
		ask("a picture", "PUT", "/default/profile/picture", `{"file":{"mimetype":"image/jpeg","filename":"a.jpg","data":"`+picture+`"}}`, 200, map[string]any{"success": true}),
		ask("a picture by address", "PUT", "/default/profile/picture", `{"file":{"url":"https://example.com/a.png"}}`, 400, map[string]any{"message": ".*does not fetch pictures.*"}),
		ask("a name", "PUT", "/default/profile/name", `{"name":"Olga at work"}`, 200, map[string]any{"success": true}),
		ask("of a friend", "GET", "/contacts/about?contactId=15550100301@c.us", "", 200, map[string]any{"about": "At the lake"}),
		{"without the scope to manage", CompatRequest{Method: "PUT", Address: base + "/default/profile/name", Header: map[string]string{"X-Api-Key": s.Full}, Body: `{"name":"Eve"}`}, 403, nil},
	})
	shows("at work", true)
	check(s, t, []compatCase{
		ask("the profile after it", "GET", "/default/profile", "", 200, map[string]any{"picture": "data:image/jpeg;base64,.+"}),
		ask("no picture", "DELETE", "/default/profile/picture", "", 200, map[string]any{"success": true}),
		ask("the profile without it", "GET", "/default/profile", "", 200, map[string]any{"picture": nil}),
	})
	shows("at work", false)

	if own := e.call(t, 200, "POST", "chat/fetchProfile", "", ""); At(own, "wuid") != string(NumberOf(s.Owner)) || At(own, "numberExists") != true || At(own, "status") != "at work" {
		t.Errorf("the own profile is %v", own)
	}
	shop := NewPhone(t, s.Network, simnet.PhoneOptions{Number: "15550100302", Name: "Corner Shop", Business: true})
	shop.SetBusiness(simnet.BusinessProfile{Description: "All that you need", Email: "us@shop.example", Websites: []string{"https://shop.example"}}, true)
	if err := s.Device.WaitAcknowledged(Within(t), Must(shop.SendText(Within(t), s.Owner.PN(), "hello"))(t)); err != nil {
		t.Fatal(err)
	}
	if shown := e.call(t, 200, "POST", "chat/fetchProfile", "", `{"number":"15550100302"}`); At(shown, "isBusiness") != true || At(shown, "email") != "us@shop.example" || At(shown, "website") != "https://shop.example" {
		t.Errorf("the shop's profile is %v", shown)
	}
	for _, one := range [][3]string{
		{"POST", "chat/updateProfileStatus", `{"status":""}`}, {"POST", "chat/updateProfileName", `{"name":"Olga"}`}, {"PUT", "chat/updateProfilePicture", `{"picture":"` + picture + `"}`},
	} {
		if done := e.call(t, 200, one[0], one[1], "", one[2]); At(done, "update") != "success" {
			t.Errorf("%s: %v", one[1], done)
		}
	}
	shows("", true)
	e.call(t, 200, "DELETE", "chat/removeProfilePicture", "", "")
	shows("", false)
	privacy := func() any { return e.call(t, 200, "GET", "chat/fetchPrivacySettings", "", "") }
	if now := privacy(); At(now, "last") != "all" || At(now, "readreceipts") != "all" {
		t.Errorf("the settings are %v", now)
	}
	if done := e.call(t, 201, "POST", "chat/updatePrivacySettings", "", `{"readreceipts":"all","profile":"all","status":"all","online":"all","last":"none","groupadd":"all"}`); At(done, "data.last") != "none" {
		t.Errorf("changed settings: %v", done)
	}
	if now := privacy(); At(now, "last") != "none" || At(now, "groupadd") != "all" {
		t.Errorf("the settings are %v", now)
	}
	refused := e.call(t, 400, "POST", "chat/updatePrivacySettings", "", `{"last":"contact_blacklist"}`)
	if message, _ := At(refused, "response.message.0").(string); message == "" || message[:5] != "last " {
		t.Errorf("a list of people: %v", refused)
	}
}

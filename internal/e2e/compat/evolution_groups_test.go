package compat

import (
	"encoding/base64"
	"fmt"
	"image/color"
	"net/url"
	"slices"
	"strings"
	"testing"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// TestCompat_EvolutionGroupsAndInstance makes and changes a group, then links the account
// anew.
func TestCompat_EvolutionGroupsAndInstance(t *testing.T) {
	t.Parallel()
	s := NewCompatScene(t, "COMPAT_INSTANCE=my instance")
	full := s.Token(t, "manager", nil, bridge.ScopeRead, bridge.ScopeSend, bridge.ScopeManage)
	e := renamed{evolution{s, full}}
	eva := NewPhone(t, e.Network, simnet.PhoneOptions{Number: "15550100304", Name: "Eva"})

	t.Run("groups", func(t *testing.T) {
		made := e.call(t, 201, "POST", "group/create", "", `{"subject":"Readers","description":"we read","participants":["15550100301"]}`)
		jid, _ := At(made, "id").(string)
		if At(made, "subject") != "Readers" || At(made, "desc") != "we read" || At(made, "size") != 2.0 {
			t.Fatalf("made %v", made)
		}
		of := "?groupJid=" + url.QueryEscape(jid)
		added := e.call(t, 201, "POST", "group/updateParticipant", of, `{"action":"add","participants":["15550100304","15550109999"]}`)
		if At(added, "updateParticipants.0.status") != "200" || At(added, "updateParticipants.1.status") != "404" {
			t.Errorf("added %v", added)
		}
		e.call(t, 201, "POST", "group/updateParticipant", of, `{"action":"promote","participants":["15550100304@s.whatsapp.net"]}`)
		e.call(t, 201, "POST", "group/updateGroupSubject", of, `{"subject":"Writers"}`)
		e.call(t, 201, "POST", "group/updateGroupDescription", "", `{"groupJid":"`+jid+`","description":"we write"}`)
		if done := e.call(t, 201, "POST", "group/updateGroupPicture", of, `{"image":"`+InBase64(Banner(t, color.Black))+`"}`); At(done, "update") != "success" {
			t.Errorf("the picture: %v", done)
		}
		if picture, kind, err := e.API.Picture(Within(t), bridge.JID(jid), bridge.PictureFull); err != nil || kind != "image/jpeg" || len(picture) == 0 {
			t.Errorf("the picture is %d bytes of %s: %v", len(picture), kind, err)
		}
		e.call(t, 400, "POST", "group/updateGroupPicture", of, `{"image":"https://example.com/a.png"}`)
		e.call(t, 400, "POST", "group/updateGroupPicture", of, `{}`)
		e.call(t, 201, "POST", "group/updateSetting", of, `{"action":"announcement"}`)
		e.call(t, 201, "POST", "group/updateSetting", of, `{"action":"locked"}`)
		e.call(t, 201, "POST", "group/toggleEphemeral", of, `{"expiration":86400}`)
		e.call(t, 400, "POST", "group/updateSetting", of, `{"action":"open"}`)
		group := Must(types.ParseJID(jid))(t)
		if view, err := eva.WaitGroup(Within(t), group, func(v simnet.GroupView) bool {
			return v.Name == "Writers" && v.Topic == "we write" && v.Announce && v.Locked && v.Ephemeral == 86400
		}); err != nil {
			t.Errorf("Eva's phone shows %+v: %v", view, err)
		}
		info := e.call(t, 200, "GET", "group/findGroupInfos", of, "")
		if At(info, "subject") != "Writers" || At(info, "announce") != true || At(info, "restrict") != true || At(info, "desc") != "we write" || At(info, "size") != 3.0 || At(info, "creation") == nil {
			t.Errorf("info %v", info)
		}
		members, _ := At(e.call(t, 200, "GET", "group/participants", of, ""), "participants").([]any)
		if admins := slices.DeleteFunc(slices.Clone(members), func(m any) bool { return At(m, "admin") == nil }); len(members) != 3 || len(admins) != 2 {
			t.Errorf("members %v", members)
		}
		for query, whole := range map[string]bool{"?getParticipants=true": true, "?getParticipants=false": false, "": false} {
			list := e.call(t, 200, "GET", "group/fetchAllGroups", query, "")
			if At(list, "0.id") != jid || At(list, "0.subject") != "Writers" || (At(list, "0.participants") != nil) != whole {
				t.Errorf("groups%s: %v", query, list)
			}
		}
		code, _ := At(e.call(t, 200, "GET", "group/inviteCode", of, ""), "inviteCode").(string)
		renewed := e.call(t, 201, "POST", "group/revokeInviteCode", of, "")
		if next := At(renewed, "inviteCode"); code == "" || next == code || At(renewed, "inviteUrl") != "https://chat.whatsapp.com/"+fmt.Sprint(next) {
			t.Errorf("the code %s became %v", code, renewed)
		}
		e.call(t, 400, "GET", "group/inviteInfo", "?inviteCode="+code, "")
		if left := e.call(t, 200, "DELETE", "group/leaveGroup", of, ""); At(left, "leave") != true || At(left, "groupJid") != jid {
			t.Errorf("left %v", left)
		}
		e.call(t, 400, "GET", "group/participants", "", "")
		e.call(t, 400, "GET", "group/participants", "?groupJid=15550100301", "")
		other := Must(eva.CreateGroup(Within(t), simnet.GroupOptions{Subject: "Swimmers", Members: []*simnet.Phone{e.Friend}}))(t)
		link := Must(other.Link(Within(t), eva))(t)
		joined := e.call(t, 200, "GET", "group/acceptInviteCode", "?inviteCode="+strings.TrimPrefix(link, "https://chat.whatsapp.com/"), "")
		if At(joined, "accepted") != true || At(joined, "groupJid") != other.JID().String() {
			t.Errorf("joined %v", joined)
		}
	})
	t.Run("the instance", func(t *testing.T) {
		for _, route := range []string{"instance/connectionState", "instance/connect"} {
			if state := e.call(t, 200, "GET", route, "", ""); At(state, "instance.state") != "open" || At(state, "instance.instanceName") != "my instance" {
				t.Errorf("%s: %v", route, state)
			}
		}
		if found := e.call(t, 200, "GET", "settings/find", "", ""); At(found, "rejectCall") != false {
			t.Errorf("settings %v", found)
		}
		e.call(t, 200, "POST", "instance/restart", "", "")
		Must(e.API.WaitState(Within(t), bridge.StateOpen))(t)
		if out := e.call(t, 200, "DELETE", "instance/logout", "", ""); At(out, "status") != "SUCCESS" || At(out, "error") != false {
			t.Errorf("logged out: %v", out)
		}
		Must(e.API.WaitStatus(Within(t), func(status bridge.Status) (bool, error) { return status.QR != nil, nil }))(t)
		linking := e.call(t, 200, "GET", "instance/connect", "", "")
		picture, isPNG := strings.CutPrefix(fmt.Sprint(At(linking, "base64")), "data:image/png;base64,")
		if !isPNG || Scanned(t, Must(base64.StdEncoding.DecodeString(picture))(t)) != At(linking, "code") || At(linking, "pairingCode") != nil {
			t.Errorf("linking: %.200v", linking)
		}
		if coded := e.call(t, 200, "GET", "instance/connect", "?number="+e.Owner.Number(), ""); len(fmt.Sprint(At(coded, "pairingCode"))) != 8 {
			t.Errorf("linking by a code: %.200v", coded)
		}
	})
}

// renamed is a compatibility API whose instance has another name.
type renamed struct{ evolution }

func (e renamed) call(t *testing.T, status int, method, route, query, body string) any {
	t.Helper()
	resp, answer := e.Ask(t, CompatRequest{Method: method, Address: e.Address + "/evolution/" + route + "/my%20instance" + query, Header: map[string]string{"apikey": e.key}, Body: body})
	if resp.StatusCode != status {
		t.Fatalf("%s %s%s %s: %d %.300v, want %d", method, route, query, body, resp.StatusCode, answer, status)
	}
	return answer
}

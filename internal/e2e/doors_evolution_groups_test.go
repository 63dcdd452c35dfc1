package e2e

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
	"bridged/internal/simnet"
)

// TestDoors_EvolutionGroupsAndInstance makes and changes a group, then links the account
// anew.
func TestDoors_EvolutionGroupsAndInstance(t *testing.T) {
	t.Parallel()
	s := newDoorScene(t, "COMPAT_INSTANCE=my instance")
	full := s.token(t, "manager", nil, bridge.ScopeRead, bridge.ScopeSend, bridge.ScopeManage)
	e := renamed{evolution{s, full}}
	eva := newPhone(t, e.network, simnet.PhoneOptions{Number: "15550100304", Name: "Eva"})

	t.Run("groups", func(t *testing.T) {
		made := e.call(t, 201, "POST", "group/create", "", `{"subject":"Readers","description":"we read","participants":["15550100301"]}`)
		jid, _ := at(made, "id").(string)
		if at(made, "subject") != "Readers" || at(made, "desc") != "we read" || at(made, "size") != 2.0 {
			t.Fatalf("made %v", made)
		}
		of := "?groupJid=" + url.QueryEscape(jid)
		added := e.call(t, 201, "POST", "group/updateParticipant", of, `{"action":"add","participants":["15550100304","15550109999"]}`)
		if at(added, "updateParticipants.0.status") != "200" || at(added, "updateParticipants.1.status") != "404" {
			t.Errorf("added %v", added)
		}
		e.call(t, 201, "POST", "group/updateParticipant", of, `{"action":"promote","participants":["15550100304@s.whatsapp.net"]}`)
		e.call(t, 201, "POST", "group/updateGroupSubject", of, `{"subject":"Writers"}`)
		e.call(t, 201, "POST", "group/updateGroupDescription", "", `{"groupJid":"`+jid+`","description":"we write"}`)
		if done := e.call(t, 201, "POST", "group/updateGroupPicture", of, `{"image":"`+inBase64(banner(t, color.Black))+`"}`); at(done, "update") != "success" {
			t.Errorf("the picture: %v", done)
		}
		if picture, kind, err := e.api.Picture(within(t), bridge.JID(jid), bridge.PictureFull); err != nil || kind != "image/jpeg" || len(picture) == 0 {
			t.Errorf("the picture is %d bytes of %s: %v", len(picture), kind, err)
		}
		e.call(t, 400, "POST", "group/updateGroupPicture", of, `{"image":"https://example.com/a.png"}`)
		e.call(t, 400, "POST", "group/updateGroupPicture", of, `{}`)
		e.call(t, 201, "POST", "group/updateSetting", of, `{"action":"announcement"}`)
		e.call(t, 201, "POST", "group/updateSetting", of, `{"action":"locked"}`)
		e.call(t, 201, "POST", "group/toggleEphemeral", of, `{"expiration":86400}`)
		e.call(t, 400, "POST", "group/updateSetting", of, `{"action":"open"}`)
		group := must(types.ParseJID(jid))(t)
		if view, err := eva.WaitGroup(within(t), group, func(v simnet.GroupView) bool {
			return v.Name == "Writers" && v.Topic == "we write" && v.Announce && v.Locked && v.Ephemeral == 86400
		}); err != nil {
			t.Errorf("Eva's phone shows %+v: %v", view, err)
		}
		info := e.call(t, 200, "GET", "group/findGroupInfos", of, "")
		if at(info, "subject") != "Writers" || at(info, "announce") != true || at(info, "restrict") != true || at(info, "desc") != "we write" || at(info, "size") != 3.0 || at(info, "creation") == nil {
			t.Errorf("info %v", info)
		}
		members, _ := at(e.call(t, 200, "GET", "group/participants", of, ""), "participants").([]any)
		if admins := slices.DeleteFunc(slices.Clone(members), func(m any) bool { return at(m, "admin") == nil }); len(members) != 3 || len(admins) != 2 {
			t.Errorf("members %v", members)
		}
		for query, whole := range map[string]bool{"?getParticipants=true": true, "?getParticipants=false": false, "": false} {
			list := e.call(t, 200, "GET", "group/fetchAllGroups", query, "")
			if at(list, "0.id") != jid || at(list, "0.subject") != "Writers" || (at(list, "0.participants") != nil) != whole {
				t.Errorf("groups%s: %v", query, list)
			}
		}
		code, _ := at(e.call(t, 200, "GET", "group/inviteCode", of, ""), "inviteCode").(string)
		renewed := e.call(t, 201, "POST", "group/revokeInviteCode", of, "")
		if next := at(renewed, "inviteCode"); code == "" || next == code || at(renewed, "inviteUrl") != "https://chat.whatsapp.com/"+fmt.Sprint(next) {
			t.Errorf("the code %s became %v", code, renewed)
		}
		e.call(t, 400, "GET", "group/inviteInfo", "?inviteCode="+code, "")
		if left := e.call(t, 200, "DELETE", "group/leaveGroup", of, ""); at(left, "leave") != true || at(left, "groupJid") != jid {
			t.Errorf("left %v", left)
		}
		e.call(t, 400, "GET", "group/participants", "", "")
		e.call(t, 400, "GET", "group/participants", "?groupJid=15550100301", "")
		other := must(eva.CreateGroup(within(t), simnet.GroupOptions{Subject: "Swimmers", Members: []*simnet.Phone{e.friend}}))(t)
		link := must(other.Link(within(t), eva))(t)
		joined := e.call(t, 200, "GET", "group/acceptInviteCode", "?inviteCode="+strings.TrimPrefix(link, "https://chat.whatsapp.com/"), "")
		if at(joined, "accepted") != true || at(joined, "groupJid") != other.JID().String() {
			t.Errorf("joined %v", joined)
		}
	})
	t.Run("the instance", func(t *testing.T) {
		for _, route := range []string{"instance/connectionState", "instance/connect"} {
			if state := e.call(t, 200, "GET", route, "", ""); at(state, "instance.state") != "open" || at(state, "instance.instanceName") != "my instance" {
				t.Errorf("%s: %v", route, state)
			}
		}
		if found := e.call(t, 200, "GET", "settings/find", "", ""); at(found, "rejectCall") != false {
			t.Errorf("settings %v", found)
		}
		e.call(t, 200, "POST", "instance/restart", "", "")
		must(e.api.WaitState(within(t), bridge.StateOpen))(t)
		if out := e.call(t, 200, "DELETE", "instance/logout", "", ""); at(out, "status") != "SUCCESS" || at(out, "error") != false {
			t.Errorf("logged out: %v", out)
		}
		must(e.api.WaitStatus(within(t), func(status bridge.Status) (bool, error) { return status.QR != nil, nil }))(t)
		linking := e.call(t, 200, "GET", "instance/connect", "", "")
		picture, isPNG := strings.CutPrefix(fmt.Sprint(at(linking, "base64")), "data:image/png;base64,")
		if !isPNG || scanned(t, must(base64.StdEncoding.DecodeString(picture))(t)) != at(linking, "code") || at(linking, "pairingCode") != nil {
			t.Errorf("linking: %.200v", linking)
		}
		if coded := e.call(t, 200, "GET", "instance/connect", "?number="+e.owner.Number(), ""); len(fmt.Sprint(at(coded, "pairingCode"))) != 8 {
			t.Errorf("linking by a code: %.200v", coded)
		}
	})
}

// renamed is a door whose instance has another name.
type renamed struct{ evolution }

func (e renamed) call(t *testing.T, status int, method, route, query, body string) any {
	t.Helper()
	resp, answer := e.ask(t, doorRequest{method, e.address + "/evolution/" + route + "/my%20instance" + query, map[string]string{"apikey": e.key}, body})
	if resp.StatusCode != status {
		t.Fatalf("%s %s%s %s: %d %.300v, want %d", method, route, query, body, resp.StatusCode, answer, status)
	}
	return answer
}

package sending

import (
	"net/http"
	"testing"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// headerBytes holds the files in the headers of simnet's business messages.
var headerBytes = map[bridge.MediaType]string{
	bridge.MediaImage: "the bytes of a boarding pass", bridge.MediaVideo: "the bytes of a film about shoes", bridge.MediaDocument: "the bytes of a statement",
}

// TestBusiness_EveryKindIsReadDownloadedAndForwarded: messages of shops, banks and
// airlines show their text and file, and reach the next phone unchanged when
// forwarded.
func TestBusiness_EveryKindIsReadDownloadedAndForwarded(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	annas, bens, _, _ := c.Conversations(t)
	from, to := &room{Conversation: annas, b: c.Bridge}, &room{Conversation: bens, b: c.Bridge}
	for _, m := range simnet.BusinessMessages(Must(c.Anna.UploadBusinessFiles(Within(t)))(t)) {
		t.Run(m.Name, func(t *testing.T) {
			from.TB, to.TB = t, t
			id := from.sendsRaw(m.Message)
			original := from.stored(id)
			if original.Content == "" {
				t.Errorf("%s shows nothing", original.MessageType)
			}
			if original.Media != nil {
				if got := c.Bridge.Get(from.Download(id)).Want(http.StatusOK); string(got.Body) != headerBytes[original.Media.Type] {
					t.Errorf("the file is %q", got.Body)
				}
			}
			forward := c.Bridge.Post("/api/messages/forward", Object{"sourceChatJid": from.In.String(), "sourceMsgId": id, "destJid": to.In.String()})
			if refusesForward[original.MessageType] {
				Refused(t, forward, http.StatusBadRequest, bridge.CodeInvalid, "cannot be forwarded")
				return
			}
			to.seesForwarded(SentID(t, forward), original)
		})
	}
}

// refusesForward lists the business kinds that cannot be forwarded.
var refusesForward = map[string]bool{"eventMessage": true, "eventInviteMessage": true, "placeholderMessage": true}

// seesForwarded compares the other phone's message and download with the original.
func (r *room) seesForwarded(id simnet.MessageID, original bridge.Message) {
	r.Helper()
	got := r.stored(id)
	if got.Content != original.Content || !got.IsForwarded {
		r.Errorf("the API shows %+v, the original was %+v", got, original)
	}
	received := Must(r.By.ReceivedID(Within(r), id))(r)
	if original.Media == nil {
		if text := received.Text(); original.MessageType != "groupInviteMessage" && !isChannelInvite(original) && text != original.Content {
			r.Errorf("the other phone shows %q, want %q", text, original.Content)
		}
		return
	}
	if data := Must(r.By.Download(Within(r), received))(r); string(data) != headerBytes[original.Media.Type] {
		r.Errorf("the other phone downloads %q", data)
	}
}

func isChannelInvite(m bridge.Message) bool {
	return m.MessageType == "newsletterFollowerInviteMessageV2" || m.MessageType == "newsletterAdminInviteMessage"
}

// TestBusiness_AFileInAHeaderIsUploadedAgain after the CDN has lost it, and
// downloads and forwards find its new path.
func TestBusiness_AFileInAHeaderIsUploadedAgain(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	annas, bens, _, _ := c.Conversations(t)
	from, to := &room{Conversation: annas, b: c.Bridge}, &room{Conversation: bens, b: c.Bridge}
	from.TB, to.TB = t, t
	for _, m := range simnet.BusinessMessages(Must(c.Anna.UploadBusinessFiles(Within(t)))(t)) {
		if m.Name != "boarding pass" && m.Name != "carousel" && m.Name != "product" {
			continue
		}
		id := from.sendsRaw(m.Message)
		original := from.stored(id)
		c.Network.CDN().Expire(simnet.DirectPath(m.Message))
		if got := c.Bridge.Get(from.Download(id)).Want(http.StatusOK); string(got.Body) != headerBytes[bridge.MediaImage] {
			t.Errorf("%s: the file is %q", m.Name, got.Body)
		}
		to.seesForwarded(to.forwards(from.In, id), original)
	}
}

// TestBusiness_FieldsForPrograms: programs need not search the text for a button's
// address, a chosen row, an order or a place.
func TestBusiness_FieldsForPrograms(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	annas, _, _, _ := c.Conversations(t)
	from := &room{Conversation: annas, b: c.Bridge}
	from.TB = t
	checks := map[string]func(bridge.Message) bool{
		"boarding pass": func(m bridge.Message) bool { return m.Interactive.Buttons[0].URL == "https://air.example/b/ABC123" },
		"row chosen":    func(m bridge.Message) bool { return m.Interactive.Selected.ID == "s36" },
		"order":         func(m bridge.Message) bool { return m.Order.Total == "119.99" && m.Order.ItemCount == 2 },
		"gate":          func(m bridge.Message) bool { return m.Location.Latitude == 52.3667 },
		"product": func(m bridge.Message) bool {
			return m.Product.RetailerID == "boot-8" && m.Media.Type == bridge.MediaImage
		},
		"check-in":     func(m bridge.Message) bool { return m.Event.StartAt != nil && m.Event.Location.Name == "Gate B12" },
		"group invite": func(m bridge.Message) bool { return m.GroupInvite.Code == "AbCdEf" },
		"poll result":  func(m bridge.Message) bool { return m.Poll.Options[0].Votes == 12 },
	}
	for _, m := range simnet.BusinessMessages(simnet.BusinessFiles{}) {
		check := checks[m.Name]
		if check == nil {
			continue
		}
		delete(checks, m.Name)
		if got := from.stored(from.sendsRaw(m.Message)); !check(got) {
			t.Errorf("%s: %+v", m.Name, got)
		}
	}
	for name := range checks {
		t.Errorf("nobody sends %q", name)
	}
}

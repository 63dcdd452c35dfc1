package convert

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
)

func TestVCard_IsReadInEveryVersion(t *testing.T) {
	for name, test := range map[string]struct {
		card string
		want bridge.SharedContact
	}{
		"as the apps write it": {
			"BEGIN:VCARD\nVERSION:3.0\nN:Weber;Jonas;;;\nFN:Jonas Weber\nORG:Weber\\, Söhne;Sales\nTITLE:Chef\nitem1.TEL;waid=4915100100102:+49 1510 0100102\nitem1.X-ABLabel:Mobil\n" +
				"TEL;type=WORK:030 123\nEMAIL;type=INTERNET:jonas@example.com\nEND:VCARD",
			bridge.SharedContact{
				DisplayName: "Jonas Weber", Organization: "Weber, Söhne, Sales", Title: "Chef", Emails: []string{"jonas@example.com"},
				Phones: []bridge.SharedPhone{{Number: "+49 1510 0100102", JID: "4915100100102@s.whatsapp.net"}, {Number: "030 123"}},
			},
		},
		"2.1, quoted-printable": {
			"BEGIN:VCARD\r\nVERSION:2.1\r\nFN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:=D0=9E=D0=BB=D1=8C=\r\n=D0=B3=D0=B0\r\nTEL;CELL:+7 900\r\nEND:VCARD\r\n",
			bridge.SharedContact{DisplayName: "Ольга", Phones: []bridge.SharedPhone{{Number: "+7 900"}}, Emails: []string{}},
		},
		"4.0, folded": {
			"BEGIN:VCARD\r\nVERSION:4.0\r\nFN:A very\r\n  long name\r\nTEL;VALUE=uri;TYPE=cell:tel:+33-1\r\nEND:VCARD",
			bridge.SharedContact{DisplayName: "A very long name", Phones: []bridge.SharedPhone{{Number: "+33-1"}}, Emails: []string{}},
		},
		"a number that is none": {"TEL;waid=12@evil:1\nTEL;waid=:2\nTEL", bridge.SharedContact{Phones: []bridge.SharedPhone{{Number: "1"}, {Number: "2"}}, Emails: []string{}}},
		"nothing":               {"", bridge.SharedContact{Phones: []bridge.SharedPhone{}, Emails: []string{}}},
	} {
		test.want.VCard = test.card
		if diff := cmp.Diff(test.want, sharedContact(&waE2E.ContactMessage{Vcard: &test.card})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	named := sharedContact(&waE2E.ContactMessage{DisplayName: proto.String("As shown"), Vcard: proto.String("FN:In the card")})
	if named.DisplayName != "As shown" {
		t.Errorf("the name is %q", named.DisplayName)
	}
}

// TestVCard_WritesWhatItReads: one bridge understands another one's cards.
func TestVCard_WritesWhatItReads(t *testing.T) {
	sent := bridge.ContactCard{
		DisplayName: "Dr. Dora; \\ Döring, jr.", Phone: "491510000077", PhoneDisplay: "+49 151 0000077", Email: "dora@example.org",
		Organization: "Döring & Töchter; Söhne", Title: "Chefin\nund mehr",
	}
	card := vcardOf(sent)
	got := sharedContact(&waE2E.ContactMessage{Vcard: &card})
	want := bridge.SharedContact{
		DisplayName: sent.DisplayName, Phones: []bridge.SharedPhone{{Number: sent.PhoneDisplay, JID: "491510000077@s.whatsapp.net"}}, Emails: []string{sent.Email},
		Organization: sent.Organization, Title: sent.Title, VCard: card,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestVCard_AHugeOneIsReadInNoTime, whatever its lines are.
func TestVCard_AHugeOneIsReadInNoTime(t *testing.T) {
	for _, line := range []string{" folded\n", "TEL:1\n", "X;ENCODING=QUOTED-PRINTABLE:a=\n", ";;;;;;;;\n"} {
		card := strings.Repeat(line, 4<<20/len(line))
		if got := sharedContact(&waE2E.ContactMessage{Vcard: &card}); len(got.Phones) > maxListed {
			t.Errorf("%d phones", len(got.Phones))
		}
	}
}

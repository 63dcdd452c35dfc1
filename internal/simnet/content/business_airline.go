package content

import (
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"
)

// flowButton returns a button of a native flow.
func flowButton(name, params string) *waE2E.InteractiveMessage_NativeFlowMessage_NativeFlowButton {
	return &waE2E.InteractiveMessage_NativeFlowMessage_NativeFlowButton{Name: &name, ButtonParamsJSON: &params}
}

func nativeFlow(buttons ...*waE2E.InteractiveMessage_NativeFlowMessage_NativeFlowButton) *waE2E.InteractiveMessage_NativeFlowMessage_ {
	return &waE2E.InteractiveMessage_NativeFlowMessage_{NativeFlowMessage: &waE2E.InteractiveMessage_NativeFlowMessage{Buttons: buttons, MessageVersion: proto.Int32(1)}}
}

// airlineMessages returns messages with files, places and dates.
func airlineMessages(f BusinessFiles) []BusinessMessage {
	gate := &waE2E.LocationMessage{DegreesLatitude: proto.Float64(52.3667), DegreesLongitude: proto.Float64(13.5033), Name: str("Gate B12"), Address: str("BER, Terminal 1")}
	return []BusinessMessage{
		{"boarding pass", &waE2E.Message{TemplateMessage: &waE2E.TemplateMessage{HydratedTemplate: &waE2E.TemplateMessage_HydratedFourRowTemplate{
			Title:               &waE2E.TemplateMessage_HydratedFourRowTemplate_ImageMessage{ImageMessage: f.Image},
			HydratedContentText: str("Your boarding pass for XY 123"), HydratedFooterText: str("Have a good flight"),
			HydratedButtons: []*waE2E.HydratedTemplateButton{{HydratedButton: &waE2E.HydratedTemplateButton_UrlButton{
				UrlButton: &waE2E.HydratedTemplateButton_HydratedURLButton{DisplayText: str("Manage booking"), URL: str("https://air.example/b/ABC123")},
			}}},
		}}}},
		{"gate", &waE2E.Message{TemplateMessage: &waE2E.TemplateMessage{HydratedTemplate: &waE2E.TemplateMessage_HydratedFourRowTemplate{
			Title:               &waE2E.TemplateMessage_HydratedFourRowTemplate_LocationMessage{LocationMessage: gate},
			HydratedContentText: str("Boarding begins at 10:20."),
		}}}},
		{"delay", &waE2E.Message{InteractiveMessage: &waE2E.InteractiveMessage{
			Header: &waE2E.InteractiveMessage_Header{Title: str("XY 123 is late"), Subtitle: str("by two hours")}, Body: &waE2E.InteractiveMessage_Body{Text: str("What would you like to do?")},
			Footer: &waE2E.InteractiveMessage_Footer{Text: str("We are sorry")},
			InteractiveMessage: nativeFlow(
				flowButton("quick_reply", `{"display_text":"Wait","id":"wait-1"}`), flowButton("cta_url", `{"display_text":"Rebook","url":"https://air.example/r","merchant_url":"https://air.example"}`),
				flowButton("cta_call", `{"display_text":"Call us","phone_number":"+49309876543"}`), flowButton("cta_copy", `{"display_text":"Copy voucher","copy_code":"SORRY20","id":"v"}`),
				flowButton("galaxy_message", `{"flow_cta":"Ask for a refund","flow_id":"99"}`), flowButton("open_webview", `{"title":"Status","link":{"url":"https://air.example/s"}}`),
				flowButton("send_location", `not JSON`)),
		}}},
		{"seat", &waE2E.Message{TemplateMessage: &waE2E.TemplateMessage{Format: &waE2E.TemplateMessage_InteractiveMessageTemplate{InteractiveMessageTemplate: &waE2E.InteractiveMessage{
			Header:             &waE2E.InteractiveMessage_Header{Media: &waE2E.InteractiveMessage_Header_VideoMessage{VideoMessage: f.Video}, HasMediaAttachment: proto.Bool(true)},
			Body:               &waE2E.InteractiveMessage_Body{Text: str("More legroom for 20.00 EUR")},
			InteractiveMessage: nativeFlow(flowButton("quick_reply", `{"display_text":"Take it","id":7}`)),
		}}}}},
		{"check-in", &waE2E.Message{EventMessage: &waE2E.EventMessage{
			Name: str("Check-in"), Description: str("online or at the desk"), Location: gate,
			JoinLink: str("https://call.whatsapp.com/video/abc"), StartTime: proto.Int64(1_790_000_000), EndTime: proto.Int64(1_790_003_600),
		}}},
		{"cancelled event", &waE2E.Message{EventMessage: &waE2E.EventMessage{Name: str("Lounge party"), IsCanceled: proto.Bool(true)}}},
		{"event invite", &waE2E.Message{EventInviteMessage: &waE2E.EventInviteMessage{
			EventID: str("e"), EventTitle: str("Members' day"), Caption: str("come"),
			StartTime: proto.Int64(1_790_000_000_000),
		}}},
	}
}

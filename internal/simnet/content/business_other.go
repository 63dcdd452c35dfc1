package content

import (
	"go.mau.fi/whatsmeow/proto/waAICommon"
	"go.mau.fi/whatsmeow/proto/waAICommonDeprecated"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"
)

// otherMessages returns invitations, poll results and answers of AIs.
func otherMessages(BusinessFiles) []BusinessMessage {
	result := &waE2E.PollResultSnapshotMessage{Name: str("Best shoe?"), PollVotes: []*waE2E.PollResultSnapshotMessage_PollVote{
		{OptionName: str("Boot"), OptionVoteCount: proto.Int64(12)}, {OptionName: str("Sandal"), OptionVoteCount: proto.Int64(3)},
	}}
	type part = waAICommonDeprecated.AIRichResponseSubMessage
	return []BusinessMessage{
		{"poll result", &waE2E.Message{PollResultSnapshotMessage: result}},
		{"newer poll result", &waE2E.Message{PollResultSnapshotMessageV3: result}},
		{"group invite", &waE2E.Message{GroupInviteMessage: &waE2E.GroupInviteMessage{
			GroupJID: str("120363000000000009@g.us"), InviteCode: str("AbCdEf"),
			InviteExpiration: proto.Int64(1_790_000_000), GroupName: str("Shoe friends"), Caption: str("Join us"),
		}}},
		{"channel invite", &waE2E.Message{NewsletterFollowerInviteMessageV2: &waE2E.NewsletterFollowerInviteMessage{NewsletterJID: str("1@newsletter"), NewsletterName: str("Shoe news"), Caption: str("Follow us")}}},
		{"channel admin invite", &waE2E.Message{NewsletterAdminInviteMessage: &waE2E.NewsletterAdminInviteMessage{NewsletterJID: str("1@newsletter"), NewsletterName: str("Shoe news")}}},
		{"AI", &waE2E.Message{RichResponseMessage: &waE2E.AIRichResponseMessage{Submessages: []*part{
			{MessageText: str("Berlin has 3.8 million people.")},
			{TableMetadata: &waAICommonDeprecated.AIRichResponseTableMetadata{Title: str("Cities"), Rows: []*waAICommonDeprecated.AIRichResponseTableMetadata_AIRichResponseTableRow{
				{Items: []string{"City", "People"}, IsHeading: proto.Bool(true)}, {Items: []string{"Hamburg", "1.9"}},
			}}},
			{CodeMetadata: &waAICommonDeprecated.AIRichResponseCodeMetadata{CodeBlocks: []*waAICommonDeprecated.AIRichResponseCodeMetadata_AIRichResponseCodeBlock{
				{CodeContent: str("print(")}, {CodeContent: str("1)")},
			}}},
			{ImageMetadata: &waAICommonDeprecated.AIRichResponseInlineImageMetadata{
				ImageText: str("A bear"),
				ImageURL:  &waAICommonDeprecated.AIRichResponseImageURL{ImageHighResURL: str("https://ai.example/bear.png")},
			}},
		}}}},
		{"newer AI", &waE2E.Message{RichResponseMessage: &waE2E.AIRichResponseMessage{UnifiedResponse: &waAICommon.AIRichResponseUnifiedResponse{
			Data: []byte(`{"response_id":"1","sections":[{"view_model":{"primitive":{"text":"Hello from the AI.","__typename":"Markdown"}}},{"view_model":{"primitive":{"text":"And more."}}}]}`),
		}}}},
	}
}

// customerMessages returns answers to businesses' messages.
func customerMessages(BusinessFiles) []BusinessMessage {
	return []BusinessMessage{
		{"button chosen", &waE2E.Message{ButtonsResponseMessage: &waE2E.ButtonsResponseMessage{
			SelectedButtonID: str("more"),
			Response:         &waE2E.ButtonsResponseMessage_SelectedDisplayText{SelectedDisplayText: "Show me"}, Type: waE2E.ButtonsResponseMessage_DISPLAY_TEXT.Enum(),
		}}},
		{"template's button chosen", &waE2E.Message{TemplateButtonReplyMessage: &waE2E.TemplateButtonReplyMessage{SelectedID: str("yes-7"), SelectedDisplayText: str("Yes, it was me"), SelectedIndex: proto.Uint32(0)}}},
		{"row chosen", &waE2E.Message{ListResponseMessage: &waE2E.ListResponseMessage{
			Title: str("36"), Description: str("in stock"), ListType: waE2E.ListResponseMessage_SINGLE_SELECT.Enum(),
			SingleSelectReply: &waE2E.ListResponseMessage_SingleSelectReply{SelectedRowID: str("s36")},
		}}},
		{"flow's button chosen", &waE2E.Message{InteractiveResponseMessage: &waE2E.InteractiveResponseMessage{
			Body: &waE2E.InteractiveResponseMessage_Body{Text: str("Wait")},
			InteractiveResponseMessage: &waE2E.InteractiveResponseMessage_NativeFlowResponseMessage_{NativeFlowResponseMessage: &waE2E.InteractiveResponseMessage_NativeFlowResponseMessage{
				Name: str("quick_reply"), ParamsJSON: str(`{"id":"wait-1"}`),
			}},
		}}},
	}
}

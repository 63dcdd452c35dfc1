// Command client uses the generated client.
package main

import (
	"client/bridged"
	"context"
	"fmt"
	"net/http"
)

func main() {
	if err := answerFirst(context.Background(), "http://127.0.0.1:8080", "token"); err != nil {
		fmt.Println(err)
	}
}

// answerFirst sends a text to the chat of the log's first message.
func answerFirst(ctx context.Context, server, token string) error {
	client, err := bridged.NewClientWithResponses(server, bridged.WithRequestEditorFn(
		func(_ context.Context, req *http.Request) error {
			req.Header.Set("Authorization", "Bearer "+token)
			return nil
		}))
	if err != nil {
		return err
	}
	types, limit := "message.created", 1
	page, err := client.ListEventsWithResponse(ctx, &bridged.ListEventsParams{Types: &types, Limit: &limit})
	if err != nil {
		return err
	}
	switch {
	case page.JSON400 != nil:
		return fmt.Errorf("%s: %s", page.JSON400.Code, page.JSON400.Error)
	case page.JSON200 == nil:
		return fmt.Errorf("the server answered %s", page.Status())
	}
	for _, event := range page.JSON200.Events {
		created, err := event.AsMessageEvent()
		if err != nil {
			return err
		}
		if created.Message.Status != nil && *created.Message.Status != bridged.MessageStatusFailed {
			continue // an own one
		}
		key := created.Message.MsgId
		sent, err := client.SendTextWithResponse(ctx, &bridged.SendTextParams{IdempotencyKey: &key}, bridged.SendText{
			Jid: created.ChatJid, Text: "Thank you", QuotedMsgId: &created.Message.MsgId,
		})
		if err != nil {
			return err
		}
		if sent.JSON200 != nil {
			fmt.Println(sent.JSON200.MsgId)
		}
	}
	return nil
}

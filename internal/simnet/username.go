package simnet

import (
	"context"
	"fmt"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/proto/waSyncAction"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"
)

// SetLIDContact enters a person without a number into the account's address book, which the companions share. An empty username is what the
// phone knows of somebody who has given theirs up.
func (p *Phone) SetLIDContact(ctx context.Context, person types.JID, fullName, username string) error {
	action := &waSyncAction.LidContactAction{FullName: proto.String(fullName)}
	if username != "" {
		action.Username = proto.String(username)
	}
	err := p.SendAppState(ctx, appstate.PatchInfo{
		Type: appstate.WAPatchCriticalUnblockLow,
		Mutations: []appstate.MutationInfo{{
			Index: []string{appstate.IndexLIDContact, person.String()}, Version: 1, Value: &waSyncAction.SyncActionValue{LidContactAction: action},
		}},
	})
	if err != nil {
		return fmt.Errorf("enter a contact: %w", err)
	}
	return nil
}

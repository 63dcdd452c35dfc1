package api

import (
	"context"

	"bridged/internal/api/content"
	"bridged/internal/bridge"
)

// AccountAdmin reads profiles, and changes the account's own profile and its labels. Repeating a change has no
// further effect.
type AccountAdmin interface {
	// Profile returns what a person shows about themselves, without their LID.
	Profile(ctx context.Context, person bridge.JID) (bridge.Profile, error)
	UpdateAccount(ctx context.Context, patch bridge.AccountPatch) error
	// SetPicture sets the account's picture to a JPEG, or removes it if picture is nil, and returns
	// its id.
	SetPicture(ctx context.Context, picture []byte) (id string, err error)
	Privacy(ctx context.Context) (bridge.Privacy, error)
	SetPrivacy(ctx context.Context, p bridge.Privacy) error
	// CreateLabel creates a label, or returns the one with this name.
	CreateLabel(ctx context.Context, name string, color int) (bridge.Label, error)
	ChangeLabel(ctx context.Context, label bridge.Label, deletes bool) error
	LabelChat(ctx context.Context, chat bridge.JID, label string, labelled bool) error
	LabelMessage(ctx context.Context, m bridge.Message, label string, labelled bool) error
}

func getProfile(in *input) (any, error) {
	contact, err := pathContact(in)
	if err != nil {
		return nil, err
	}
	profile, err := in.Account.Profile(in.ctx(), contact.JID)
	profile.LID = contact.LID
	return profile, err
}

func updateAccount(in *input) (any, error) {
	var patch bridge.AccountPatch
	body := in.body(&patch, strict)
	keep(in, patch, content.CheckAccount(patch))
	return changeAccount(in, body, patch.Fields(), func(ctx context.Context) error { return in.Account.UpdateAccount(ctx, patch) })
}

func getPrivacy(in *input) (any, error) { return in.Account.Privacy(in.ctx()) }

func updatePrivacy(in *input) (any, error) {
	var privacy bridge.Privacy
	body := in.body(&privacy, strict)
	keep(in, privacy, content.CheckPrivacy(privacy))
	return changeAccount(in, body, privacy.Fields(), func(ctx context.Context) error { return in.Account.SetPrivacy(ctx, privacy) })
}

// changeAccount makes a change of the account, and answers with the names of the changed fields.
func changeAccount(in *input, body []byte, changed []string, change func(context.Context) error) (any, error) {
	return actOnce(in, body, act{
		change: true,
		do: func(ctx context.Context) (bridge.Sent, error) {
			return bridge.Sent{Timestamp: bridge.At(in.Now())}, change(ctx)
		},
		answer: func(bridge.Sent) any {
			return struct {
				OK      bool     `json:"ok"`
				Changed []string `json:"changed"`
			}{true, changed}
		},
	})
}

// setAccountPicture sets the account's picture to the file in the request.
func setAccountPicture(in *input) (any, error) {
	picture, sum, err := content.SquarePicture(in.w, in.r, in.Preparer, in.caller().Tree, formMargin)
	if err != nil {
		return nil, err
	}
	return changeAccountPicture(in, sum, picture)
}

func removeAccountPicture(in *input) (any, error) { return changeAccountPicture(in, nil, nil) }

// changeAccountPicture sets the account's picture to a JPEG, or removes it if picture is nil.
func changeAccountPicture(in *input, body, picture []byte) (any, error) {
	return actOnce(in, body, act{
		change: true,
		do: func(ctx context.Context) (bridge.Sent, error) {
			id, err := in.Account.SetPicture(ctx, picture)
			if user := in.Account.Status().User; err == nil && user != nil {
				in.Pictures.Forget(in.canonical(user.JID)) // the notification of the network is later
			}
			return bridge.Sent{ID: id, Timestamp: bridge.At(in.Now())}, err
		},
		answer: func(done bridge.Sent) any {
			return struct {
				OK        bool   `json:"ok"`
				PictureID string `json:"pictureId"`
			}{true, done.ID}
		},
	})
}

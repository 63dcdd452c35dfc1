package sending

import (
	"context"
	"errors"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
)

const (
	// accountTimeout limits a change of the account, accountAnswer one request of it.
	accountTimeout = 60 * time.Second
	accountAnswer  = 10 * time.Second
)

// UpdateAccount changes the name and the text that the account shows about itself. Both take
// effect once.
func (s *Sender) UpdateAccount(ctx context.Context, patch bridge.AccountPatch) error {
	ctx, cancel := s.Within(ctx, accountTimeout)
	defer cancel()
	var changed []string
	if patch.Name != nil {
		rename := func(c *Client) error { return c.rename(ctx, *patch.Name) }
		if err := s.changeShared(ctx, s.ownPN(), "the account's new name", rename); err != nil {
			return err
		}
		changed = append(changed, "name")
	}
	if patch.About == nil {
		return nil
	}
	err := s.changeAccount(ctx, "the account's new about text", func(ctx context.Context, c *Client) error {
		return c.SetStatusMessage(ctx, types.SetStatusInput{Text: patch.About})
	})
	if err != nil {
		return bridge.AfterChanges(changed, "about", err)
	}
	s.ForgetProfile(s.ownPN())
	return nil
}

// rename changes the account's name on its devices. With the event about this change, the
// connection shows the name to the network.
func (c *Client) rename(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, stateTimeout)
	defer cancel()
	if err := c.s.changing.Acquire(ctx, 1); err != nil {
		return err
	}
	defer c.s.changing.Release(1)
	patch := appstate.BuildSettingPushName(name)
	if err := c.ChangeState(ctx, patch); err != nil {
		return err
	}
	if err := c.FollowState(ctx, patch.Type); err != nil { // the next change applies this one, too
		c.s.o.Log.Warn().Str("error", bridge.Redact(err.Error())).Msg("the account was renamed, but the change cannot be applied here yet")
	}
	return nil
}

// changeAccount makes a change of the account that takes effect once, until the network has
// answered. what names the change in errors.
func (s *Sender) changeAccount(ctx context.Context, what string, change func(context.Context, *Client) error) error {
	err := s.untilConfirmed(ctx, s.ownPN(), what, "it takes effect once", func(c *Client) error {
		ctx, cancel := context.WithTimeout(ctx, accountAnswer)
		defer cancel()
		return change(ctx, c)
	})
	var iq *whatsmeow.IQError
	switch {
	case err == nil || bridge.CodeOf(err) != bridge.CodeInternal:
		return err
	case errors.As(err, &iq) && iq.Code != codeRateLimited && iq.Code < 500:
		return bridge.Fail(bridge.CodeSendRefused, "the network refused %s (code %d)", what, iq.Code).Because(err)
	}
	return s.RefusalOf(err, s.ownPN())
}

// SetPicture sets the account's picture to a JPEG, or removes it if picture is empty. It returns
// the new picture's id.
func (s *Sender) SetPicture(ctx context.Context, picture []byte) (id string, err error) {
	ctx, cancel := s.Within(ctx, accountTimeout)
	defer cancel()
	err = s.changeAccount(ctx, "the account's new picture", func(ctx context.Context, c *Client) error {
		answer, err := c.ChangePicture(ctx, types.EmptyJID, picture, s.Waits.Answer)
		switch {
		case errors.Is(err, whatsmeow.ErrIQNotFound) && len(picture) == 0: // there is none
			return nil
		case errors.Is(err, whatsmeow.ErrIQNotAcceptable):
			return bridge.Fail(bridge.CodeSendRefused, "the network does not accept this picture (code 406): use another one").Because(err)
		case err != nil || len(picture) == 0:
			return err
		}
		set := answer.GetChildByTag("picture")
		id = set.AttrGetter().OptionalString("id")
		return nil
	})
	return id, err
}

// privacyTypes has the network's names of the privacy settings, by their names in a
// [bridge.Privacy].
var privacyTypes = map[string]types.PrivacySettingType{
	"lastSeen": types.PrivacySettingTypeLastSeen, "online": types.PrivacySettingTypeOnline, "about": types.PrivacySettingTypeStatus,
	"picture": types.PrivacySettingTypeProfile, "readReceipts": types.PrivacySettingTypeReadReceipts, "groupAdd": types.PrivacySettingTypeGroupAdd,
	"callAdd": types.PrivacySettingTypeCallAdd, "messages": types.PrivacySettingTypeMessages, "stickers": types.PrivacySettingTypeStickers,
	"defense": types.PrivacySettingTypeDefense,
}

// Privacy asks the network for the account's privacy settings.
func (s *Sender) Privacy(ctx context.Context) (p bridge.Privacy, err error) {
	ctx, cancel := s.Within(ctx, accountAnswer)
	defer cancel()
	c, err := s.o.Connection()
	if err != nil {
		return p, err
	}
	settings, err := c.TryFetchPrivacySettings(ctx, true)
	if err != nil {
		return p, s.RefusalOf(err, s.ownPN())
	}
	values := map[string]types.PrivacySetting{
		"lastSeen": settings.LastSeen, "online": settings.Online, "about": settings.Status, "picture": settings.Profile,
		"readReceipts": settings.ReadReceipts, "groupAdd": settings.GroupAdd, "callAdd": settings.CallAdd, "messages": settings.Messages,
		"stickers": settings.Stickers, "defense": settings.Defense,
	}
	for _, setting := range p.All() {
		if value := values[setting.Name]; value != types.PrivacySettingUndefined {
			*setting.Value = new(string(value))
		}
	}
	return p, nil
}

// SetPrivacy changes privacy settings of the account, one after the other.
func (s *Sender) SetPrivacy(ctx context.Context, p bridge.Privacy) error {
	ctx, cancel := s.Within(ctx, accountTimeout)
	defer cancel()
	var changed []string
	for _, setting := range p.All() {
		if *setting.Value == nil {
			continue
		}
		err := s.changeAccount(ctx, "the change of the privacy settings", func(ctx context.Context, c *Client) error {
			_, err := c.SetPrivacySetting(ctx, privacyTypes[setting.Name], types.PrivacySetting(**setting.Value))
			return err
		})
		if err != nil {
			return bridge.AfterChanges(changed, setting.Name, err)
		}
		changed = append(changed, setting.Name)
	}
	return nil
}

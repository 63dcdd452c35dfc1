package shell

import (
	"context"
	"io"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// Profile prints what a person shows about themselves.
func (s *Shell) Profile(ctx context.Context, who string) error {
	person, err := s.findPerson(ctx, who)
	if err != nil {
		return err
	}
	profile, err := s.API.Profile(ctx, person)
	if err != nil {
		return err
	}
	if s.JSON {
		return s.printJSON(profile)
	}
	shown := [][2]string{{"JID", string(profile.JID)}}
	if profile.About != nil {
		shown = append(shown, [2]string{"About", *profile.About})
	}
	if b := profile.Business; b != nil {
		shown = append(shown, [][2]string{
			{"Business", b.Name},
			{"Verified", yesOrNo(profile.Verified)},
			{"Description", b.Description},
			{"Categories", strings.Join(b.Categories, ", ")},
			{"Address", b.Address},
			{"E-mail", b.Email},
			{"Websites", strings.Join(b.Websites, " ")},
			{"Hours", hoursOf(b.Hours)},
		}...)
	}
	return s.properties(shown)
}

// hoursOf returns opening hours in one line, or "" if they are not known.
func hoursOf(hours *bridge.BusinessHours) string {
	if hours == nil {
		return ""
	}
	var days []string
	for _, day := range hours.Days {
		open := string(day.Mode)
		if day.Opens != nil && day.Closes != nil {
			open = *day.Opens + "-" + *day.Closes
		}
		days = append(days, day.Day+" "+open)
	}
	return strings.Join(days, ", ") + " (" + hours.Timezone + ")"
}

// UpdateAccount changes what the account shows about itself.
func (s *Shell) UpdateAccount(ctx context.Context, patch bridge.AccountPatch, key string) error {
	if patch == (bridge.AccountPatch{}) {
		return Usage("say what to change, as in --about 'Open until six'")
	}
	return s.makeChange(ctx, key, "Changed "+strings.Join(patch.Fields(), " and ")+" of the account.", func(api *client.Client, key string) error {
		return api.UpdateAccount(ctx, patch, key)
	})
}

// SetAccountPicture makes a file the picture of the account.
func (s *Shell) SetAccountPicture(ctx context.Context, path, key string) error {
	return s.makeChange(ctx, key, "Changed the picture of the account.", func(api *client.Client, key string) error {
		return withFile(path, func(file io.Reader) error { return api.SetAccountPicture(ctx, file, key) })
	})
}

// RemoveAccountPicture removes the picture of the account.
func (s *Shell) RemoveAccountPicture(ctx context.Context, key string) error {
	return s.makeChange(ctx, key, "Removed the picture of the account.", func(api *client.Client, key string) error {
		return api.RemoveAccountPicture(ctx, key)
	})
}

// Privacy prints the account's privacy settings, or changes those of assignments such as
// lastSeen=contacts.
func (s *Shell) Privacy(ctx context.Context, assignments []string, key string) error {
	if len(assignments) == 0 {
		return s.printPrivacy(ctx)
	}
	var change bridge.Privacy
	for _, assignment := range assignments {
		name, value, _ := strings.Cut(assignment, "=")
		if err := setPrivacy(&change, name, value); err != nil {
			return err
		}
	}
	return s.makeChange(ctx, key, "Changed "+strings.Join(change.Fields(), ", ")+".", func(api *client.Client, key string) error {
		return api.UpdatePrivacy(ctx, change, key)
	})
}

func setPrivacy(p *bridge.Privacy, name, value string) error {
	var names []string
	for _, setting := range p.All() {
		if names = append(names, setting.Name); setting.Name == name && value != "" {
			*setting.Value = &value
			return nil
		}
	}
	return Usage("give settings as in lastSeen=contacts; they are %s", strings.Join(names, ", "))
}

func (s *Shell) printPrivacy(ctx context.Context) error {
	privacy, err := s.API.Privacy(ctx)
	if err != nil {
		return err
	}
	if s.JSON {
		return s.printJSON(privacy)
	}
	var shown [][2]string
	for _, setting := range privacy.All() {
		if *setting.Value != nil {
			shown = append(shown, [2]string{setting.Name, **setting.Value})
		}
	}
	return s.properties(shown)
}

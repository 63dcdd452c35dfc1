package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bridged/internal/bridge"
	"bridged/internal/shell"
)

const (
	groupHelp   = "\n\n<group> is its JID or its exact name."
	peopleHelp  = groupHelp + "\n<person> is " + chatNames
	exampleClub = "120363000000000001@g.us"
)

func (e *environment) groupCommand() *cobra.Command {
	return newGroup("group", "Create and change groups, join and leave them.",
		e.createGroupCommand(), e.editGroupCommand(), e.groupPictureCommand(),
		e.membersCommand(bridge.ParticipantAdd, "Add people to a group."),
		e.membersCommand(bridge.ParticipantRemove, "Remove people from a group."),
		e.membersCommand(bridge.ParticipantPromote, "Make members admins of a group."),
		e.membersCommand(bridge.ParticipantDemote, "Make admins of a group ordinary members."),
		e.groupLinkCommand(), e.joinCommand(), invitedCommand(e), e.leaveCommand(), e.requestsCommand(),
		e.membersCommand(bridge.ParticipantApprove, "Approve people who ask to join a group."),
		e.membersCommand(bridge.ParticipantReject, "Reject people who ask to join a group."),
	)
}

// keyedCommand returns a command that makes a change once.
func (e *environment) keyedCommand(usage, help string, do func(ctx context.Context, s *shell.Shell, args []string, key string) error) *cobra.Command {
	var key string
	c := e.shellCommand(usage, help, func(ctx context.Context, s *shell.Shell, args []string) error { return do(ctx, s, args, key) })
	addKey(c.Flags(), &key)
	return c
}

func (e *environment) createGroupCommand() *cobra.Command {
	const help = "Create a group and print its JID.\n\n<person> is " + chatNames + "\nIt fails if somebody could not be added; the group exists then, too."
	return example(e.keyedCommand("create <name> [<person>...]", help, func(ctx context.Context, s *shell.Shell, args []string, key string) error {
		return s.CreateGroup(ctx, args[0], args[1:], key)
	}), "bridged group create Readers +15557654321 +447700900123")
}

func (e *environment) membersCommand(action bridge.ParticipantAction, summary string) *cobra.Command {
	help := summary + peopleHelp + "\nIt prints the result for each person, and fails if one of them has an error."
	return example(e.keyedCommand(string(action)+" <group> <person>...", help, func(ctx context.Context, s *shell.Shell, args []string, key string) error {
		return s.ChangeMembers(ctx, args[0], action, args[1:], key)
	}), fmt.Sprintf("bridged group %s %s +15557654321", action, exampleClub))
}

func (e *environment) editGroupCommand() *cobra.Command {
	var patch bridge.GroupPatch
	var adminsAdd *bool
	const help = "Change the name, description and settings of a group." + groupHelp
	c := e.keyedCommand("edit <group>", help, func(ctx context.Context, s *shell.Shell, args []string, key string) error {
		if adminsAdd != nil {
			patch.MemberAddMode = new(bridge.AddedByEveryone)
			if *adminsAdd {
				patch.MemberAddMode = new(bridge.AddedByAdmins)
			}
		}
		return s.EditGroup(ctx, args[0], patch, key)
	})
	flags := c.Flags()
	addText(flags, &patch.Name, "subject", "The `NAME` of the group")
	addText(flags, &patch.Topic, "description", "The `TEXT` of its description; '' removes it")
	addSwitch(flags, &patch.IsAnnounce, "only-admins-send", "Only admins may write; =false ends that")
	addSwitch(flags, &patch.IsLocked, "only-admins-edit", "Only admins may change name, description and picture; =false ends that")
	addSwitch(flags, &patch.JoinApproval, "approve-joins", "Admins have to approve people who come by the link; =false ends that")
	addSwitch(flags, &adminsAdd, "only-admins-add", "Only admins may add members; =false ends that")
	addTimer(flags, &patch.Disappearing)
	return example(c, "bridged group edit "+exampleClub+` --subject "Lovelace readers" --only-admins-edit`)
}

// timers are the times after which messages disappear, in seconds.
var timers = map[string]uint32{"off": 0, "24h": 86400, "7d": 7 * 86400, "90d": 90 * 86400}

func addTimer(flags *pflag.FlagSet, seconds **uint32) {
	flags.Func("disappearing", "The `TIME` after which messages disappear: off, 24h, 7d, 90d", func(value string) error {
		timer, known := timers[value]
		if !known {
			return fmt.Errorf("must be one of off, 24h, 7d, 90d")
		}
		*seconds = &timer
		return nil
	})
	offer(flags, "disappearing", []string{"off", "24h", "7d", "90d"})
}

func (e *environment) groupPictureCommand() *cobra.Command {
	var remove bool
	const help = "Change the picture of a group. bridged picture downloads it." + groupHelp + "\n<file> is a JPEG, PNG, WebP, GIF or BMP; its centre becomes a square."
	c := e.keyedCommand("picture <group> [<file>]", help, func(ctx context.Context, s *shell.Shell, args []string, key string) error {
		switch {
		case remove == (len(args) == 2):
			return shell.Usage("give a file for the new picture, or --remove")
		case remove:
			return s.RemoveGroupPicture(ctx, args[0], key)
		}
		return s.SetGroupPicture(ctx, args[0], args[1], key)
	})
	c.Flags().BoolVar(&remove, "remove", false, "Remove the picture")
	return example(c, "bridged group picture "+exampleClub+" readers.png", "bridged group picture "+exampleClub+" --remove")
}

func (e *environment) groupLinkCommand() *cobra.Command {
	var reset bool
	c := e.keyedCommand("link <group>", "Print the invite link of a group."+groupHelp, func(ctx context.Context, s *shell.Shell, args []string, key string) error {
		return s.GroupLink(ctx, args[0], key, reset)
	})
	c.Flags().BoolVar(&reset, "reset", false, "Revoke the link, and print the new one")
	return example(c, "bridged group link "+exampleClub, "bridged group link "+exampleClub+" --reset")
}

func (e *environment) joinCommand() *cobra.Command {
	const help = "Join a group with its invite link, or with the invitation in a message, and print its JID."
	return example(e.keyedCommand("join <link or chat> [<message>]", help, func(ctx context.Context, s *shell.Shell, args []string, key string) error {
		if len(args) == 1 {
			return s.JoinGroup(ctx, args[0], key)
		}
		return s.JoinInvited(ctx, shell.Target{Chat: args[0], Message: args[1], Key: key})
	}), "bridged group join https://chat.whatsapp.com/AbCdEfGhIjKlMnOpQrStUv", "bridged group join +15557654321 3EB0A1B2C3D4E5F60718")
}

func invitedCommand(e *environment) *cobra.Command {
	return example(e.shellCommand("invited <link>", "Show the group that an invite link leads to, without joining it.", func(ctx context.Context, s *shell.Shell, args []string) error {
		return s.InvitedGroup(ctx, args[0])
	}), "bridged group invited https://chat.whatsapp.com/AbCdEfGhIjKlMnOpQrStUv")
}

func (e *environment) leaveCommand() *cobra.Command {
	return example(e.keyedCommand("leave <group>", "Leave a group. Its messages stay stored."+groupHelp, func(ctx context.Context, s *shell.Shell, args []string, key string) error {
		return s.LeaveGroup(ctx, args[0], key)
	}), "bridged group leave "+exampleClub)
}

func (e *environment) requestsCommand() *cobra.Command {
	return example(e.shellCommand("requests <group>", "List the people who ask to join a group."+groupHelp, func(ctx context.Context, s *shell.Shell, args []string) error {
		return s.JoinRequests(ctx, args[0])
	}), "bridged group requests "+exampleClub)
}

package main

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"bridged/internal/chatwoot"
	"bridged/internal/config"
	"bridged/internal/shell"
)

func (e *environment) chatwootCommand() *cobra.Command {
	return newGroup("chatwoot", "Send stored messages into an inbox of Chatwoot.", e.backfillCommand())
}

const backfillHelp = `Send stored messages, names and pictures into an inbox of Chatwoot.

The variables CHATWOOT_URL, CHATWOOT_ACCOUNT_ID, CHATWOOT_INBOX_ID and CHATWOOT_TOKEN, or
CHATWOOT_TOKEN_FILE with a file that has it, name the inbox and an administrator's access token.
An inbox of the type WhatsApp gets private notes, because Chatwoot would send messages to people
again. The command can be repeated: it sends no message twice.`

func (e *environment) backfillCommand() *cobra.Command {
	var q shell.Backfill
	var inbox inboxFlags
	c := e.shellCommand("backfill", backfillHelp, func(ctx context.Context, s *shell.Shell, _ []string) error {
		to, err := config.ReadChatwoot(inbox.environ(e.environ))
		if err != nil {
			return err
		}
		q.Run.Inbox = to.Inbox
		q.Run.Chatwoot = chatwoot.New(chatwoot.Options{
			URL: to.URL, Token: to.Token, Account: to.Account, PerMinute: inbox.rate,
			Note: func(text string) { _ = shell.Printf(s.Notes, "%s\n", text) }, // the next output has the error
		})
		defer q.Run.Chatwoot.Close()
		return s.Backfill(ctx, q)
	})
	inbox.addTo(c)
	flags := c.Flags()
	flags.StringVar(&q.Since, "since", "30d", "Only from this `TIME` on: a duration before now (90m, 3d), or a date (2026-11-21, '2026-11-21 08:15')")
	flags.StringVar(&q.Before, "before", "1m", "Only before this `TIME`; newer messages arrive live")
	flags.StringArrayVar(&q.Chats, "chat", nil, "Only this `CHAT`, also a group: "+chatNames+" May be repeated")
	flags.BoolVar(&q.Run.Groups, "groups", false, "Also groups, each as a contact, for webhooks with groupChats")
	flags.BoolVar(&q.Run.Files, "files", false, "Also the files of messages")
	flags.BoolVar(&q.Run.Pictures, "pictures", true, "Also pictures of contacts that have none")
	q.Run.MaxFile = 40 << 20
	flags.Func("file-limit", "The largest file in `MEGABYTES`, as the administrator of Chatwoot has set it (default 40)", func(text string) error {
		n, err := strconv.ParseInt(text, 10, 32)
		if q.Run.MaxFile = n << 20; err != nil || n <= 0 {
			return errors.New("must be a number of megabytes")
		}
		return nil
	})
	q.Run.Status = chatwoot.StatusResolved
	addChoice(flags, &q.Run.Status, "status", "The `STATUS` of new conversations (default resolved)", chatwoot.StatusResolved, chatwoot.StatusOpen, chatwoot.StatusPending)
	flags.StringVar(&q.Run.State, "state", "", "A `FILE` for the progress, so that an interrupted run continues sooner")
	flags.BoolVar(&q.Run.DryRun, "dry-run", false, "Only print what would be sent")
	return example(c, "bridged chatwoot backfill --since 30d --dry-run", "bridged chatwoot backfill --chat +15557654321 --files --state progress.json")
}

// inboxFlags are flags that name an inbox of Chatwoot.
type inboxFlags struct {
	url, tokenFile, account, inbox string
	rate                           int
}

func (f *inboxFlags) addTo(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.url, "url", "", "The `URL` of Chatwoot, instead of CHATWOOT_URL")
	flags.StringVar(&f.tokenFile, "chatwoot-token-file", "", "A `FILE` with the access token, instead of CHATWOOT_TOKEN and CHATWOOT_TOKEN_FILE")
	flags.StringVar(&f.account, "account", "", "The `NUMBER` of the account in Chatwoot, instead of CHATWOOT_ACCOUNT_ID")
	flags.StringVar(&f.inbox, "inbox", "", "The `NUMBER` of the inbox, instead of CHATWOOT_INBOX_ID")
	const most = 3000 // what Chatwoot takes of one address
	f.rate = 120
	flags.Func("rate", "At most this `NUMBER` of requests to Chatwoot a minute (default 120)", func(text string) (err error) {
		if f.rate, err = strconv.Atoi(text); err != nil || f.rate < 1 || f.rate > most {
			return errors.New("must be a number from 1 to 3000")
		}
		return nil
	})
}

// environ returns the variables with the values of the flags.
func (f *inboxFlags) environ(variables []string) []string {
	variables = slices.Clone(variables)
	if f.tokenFile != "" {
		variables = append(variables, "CHATWOOT_TOKEN=", "CHATWOOT_TOKEN_FILE="+f.tokenFile)
	}
	for name, value := range map[string]string{"CHATWOOT_URL": f.url, "CHATWOOT_ACCOUNT_ID": f.account, "CHATWOOT_INBOX_ID": f.inbox} {
		if value != "" {
			variables = append(variables, name+"="+value)
		}
	}
	return variables
}

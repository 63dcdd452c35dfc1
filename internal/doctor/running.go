package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// Bridge asks the running bridge for its state and its account's. version is this program's version.
// phone is the configured number, or "".
func Bridge(c *client.Client, version, phone string) Check {
	return Check{Name: "bridge", Look: func(ctx context.Context) []Finding {
		status, err := c.Status(ctx)
		if err != nil {
			return []Finding{noStatus(c, err)}
		}
		stats, err := c.Stats(ctx, bridge.At(time.Now().Add(-24*time.Hour)))
		findings := []Finding{
			running(c, stats, err, version), account(status).about("account"), Login(status, time.UTC).about("client version in use"), stored(ctx, c).about("store"), webhooks(ctx, c).about("webhooks"),
		}
		if user := status.User; phone != "" && user != nil && user.Phone != "" && !bridge.SamePhone(user.Phone, phone) {
			findings = append(findings, split(Warn, bridge.OtherPhone(user.Phone, phone)).about("account"))
		}
		return append(findings, Notices(status, stats, time.UTC)...)
	}}
}

// Notices returns the findings about what only some accounts have: a limit of new chats, a security notice,
// an imported history, transcripts and backups. stats may be empty. Times are in a zone.
func Notices(status bridge.Status, stats client.Stats, zone *time.Location) (findings []Finding) {
	if status.NewChats != nil {
		findings = append(findings, newChats(*status.NewChats, zone).about("new chats"))
	}
	if status.SecurityNotice != nil {
		findings = append(findings, security(*status.SecurityNotice, zone).about("security"))
	}
	if status.HasSession && stats.HistoryImport != "" { // an older bridge does not return it
		findings = append(findings, history(stats).about("history"))
	}
	if stats.Transcription != nil {
		findings = append(findings, transcripts(*stats.Transcription).about("transcripts"))
	}
	if stats.Backups != nil {
		findings = append(findings, backups(*stats.Backups, zone).about("backups"))
	}
	return findings
}

// backups warns if the backup of the last night is missing.
func backups(b bridge.Backups, zone *time.Location) Finding {
	message := "none in BACKUP_DIR yet"
	if b.LastAt != nil && b.LastBytes != nil {
		message = fmt.Sprintf("the newest is of %s, %.1f MB", Moment(*b.LastAt, zone), float64(*b.LastBytes)/1e6)
	}
	if b.Error != nil {
		return warn(message+"; the last one failed: "+*b.Error, "follow the sentence; it is tried again at "+Moment(b.NextAt, zone))
	}
	return ok(message + "; the next is due at " + Moment(b.NextAt, zone))
}

// noStatus explains why the bridge did not return its status.
func noStatus(c *client.Client, err error) Finding {
	refused, ok := errors.AsType[*client.Error](err)
	switch {
	case ok && refused.Status == http.StatusUnauthorized:
		return fail(fmt.Sprintf("the bridge at %s does not accept this BRIDGE_TOKEN", c.BaseURL()),
			"run bridged doctor with the variables of the bridge")
	case ok:
		return fail(fmt.Sprintf("the answer of %s is not a bridge's, or the bridge has a problem: %v", c.BaseURL(), err),
			"read its log; if another program has this address, change LISTEN_ADDR")
	}
	return warn(fmt.Sprintf("no bridge answers at %s", c.BaseURL()), "start it, then run bridged doctor again with the same variables")
}

func running(c *client.Client, stats client.Stats, err error, version string) Finding {
	if err != nil {
		return fail(fmt.Sprintf("the bridge at %s returns no statistics: %v", c.BaseURL(), err), "restart it if this program is a newer version; otherwise read its log")
	}
	message := fmt.Sprintf("version %s answers at %s since %s; in the last 24 hours %d received, %d sent",
		stats.Version, c.BaseURL(), moment(stats.StartedAt), stats.Received, stats.Sent)
	if stats.Version != version {
		return warn(message+"; this program is version "+version, "restart the bridge if it was upgraded")
	}
	return ok(message)
}

func account(s bridge.Status) Finding {
	message := fmt.Sprintf("%s since %s", s.Status, moment(s.Since))
	if s.User != nil && s.User.Phone != "" {
		message += ", number " + s.User.Phone
	}
	if s.LastError != nil {
		message += ": " + *s.LastError
	}
	if p := s.CatchingUp; p != nil {
		message += fmt.Sprintf("; %d of %d queued stanzas received", p.Received, p.Expected)
	}
	remedy := "follow the sentence; if it stays, docs/operations.md has more, under lastError"
	if s.LastError != nil {
		remedy = cmp.Or(bridge.Remedy(*s.LastError), remedy)
	}
	switch {
	case s.Status == bridge.StateOpen && s.LastError == nil:
		return ok(message)
	case s.Status == bridge.StateOpen:
		return warn(message, remedy)
	case s.PausedUntil != nil:
		return fail(message, "wait: logging in before "+moment(*s.PausedUntil)+" prolongs the pause. Find out whether a second program logs in with this session, or whether the connection breaks again and again")
	case s.Status == bridge.StateNeedsPair && s.LastError == nil:
		return fail(message, "link the account: bridged pair")
	}
	return fail(message, remedy)
}

// newChats warns if the network's quota of new chats is used up or nearly used up.
func newChats(q bridge.NewChatQuota, zone *time.Location) Finding {
	message := "the network limits the chats that this account starts"
	if q.Total != nil && q.Used != nil {
		message += fmt.Sprintf(": %d of %d are used", *q.Used, *q.Total)
	}
	if q.CycleEndsAt != nil {
		message += ", until " + Moment(*q.CycleEndsAt, zone)
	}
	switch q.Status {
	case bridge.QuotaCapped:
		return warn(message+"; the account cannot start more now", "wait until then, or let people write first: existing chats work")
	case bridge.QuotaFirstWarning, bridge.QuotaSecondWarning:
		return warn(message+"; the network warns that they will be used up", "start fewer chats, or let people write first")
	}
	return ok(message)
}

// security returns the notice that the number is being registered elsewhere.
func security(s bridge.SecurityNotice, zone *time.Location) Finding {
	return warn(s.Message+" ("+Moment(s.At, zone)+")", "do what the sentence says; docs/operations.md has more. The notice disappears after 7 days")
}

// Login warns if the network will soon refuse the client's version.
func Login(s bridge.Status, zone *time.Location) Finding {
	version := s.ClientVersion.Current
	switch {
	case version == "":
		return ok("unknown, because the bridge is older")
	case s.ClientVersion.ExpiresAt == nil:
		return ok("WhatsApp Web " + version)
	}
	return warn("WhatsApp Web "+version+", which the network will refuse from "+Moment(*s.ClientVersion.ExpiresAt, zone),
		"let this machine reach https://web.whatsapp.com, or set CLIENT_VERSION (docs/operations.md says where to find one), or update bridged")
}

func stored(ctx context.Context, c *client.Client) Finding {
	err := c.Call(ctx, http.MethodGet, "/readyz", nil, nil)
	if bridge.CodeOf(err) == bridge.CodeStorageUnavailable {
		return fail(err.Error(), "follow the sentence; the log has the cause")
	}
	return ok("messages can be read")
}

// history compares the configured history with the history that the pairing requested.
func history(s client.Stats) Finding {
	message := "HISTORY_IMPORT is " + string(s.HistoryImport)
	switch paired := string(s.HistoryPaired); {
	case !s.HistoryImport.Exceeds(s.HistoryPaired):
		return ok(message)
	case paired == "":
		message += ", which the pairing did not request"
	default:
		message += ", and was " + paired + " at the pairing"
	}
	return warn(message, "pair again, because the phone sends its history only then. Or request older messages of a chat with POST /api/chats/{jid}/history")
}

// transcripts warns if the minutes of this month are used up.
func transcripts(t bridge.Transcription) Finding {
	message := fmt.Sprintf("TRANSCRIBE is %s; %d wait, %d minutes used this month", t.Mode, t.Waiting, (t.SecondsUsed+59)/60)
	if t.SecondsLimit == nil {
		return ok(message)
	}
	message += fmt.Sprintf(" of %d", *t.SecondsLimit/60)
	if t.PutOff > 0 || t.SecondsUsed >= *t.SecondsLimit {
		return warn(message, "voice notes wait for the next month, unless TRANSCRIBE_MINUTES is raised")
	}
	return ok(message)
}

func webhooks(ctx context.Context, c *client.Client) Finding {
	hooks, err := c.Webhooks(ctx)
	if err != nil {
		return fail(err.Error(), "the log has the cause")
	}
	return Webhooks(hooks)
}

// Webhooks warns about deliveries that have failed for good.
func Webhooks(hooks []bridge.Webhook) Finding {
	pending, dead := 0, 0
	for _, hook := range hooks {
		pending, dead = pending+hook.Pending, dead+hook.Dead
	}
	message := fmt.Sprintf("%d, with %d deliveries pending and %d dead", len(hooks), pending, dead)
	if dead > 0 {
		return warn(message, "GET /api/webhooks lists the receivers with their last errors; dead deliveries can be posted again")
	}
	return ok(message)
}

// Moment formats a time with its zone.
func Moment(t bridge.Time, zone *time.Location) string {
	return t.In(zone).Format("2006-01-02 15:04:05 MST")
}

func moment(t bridge.Time) string { return Moment(t, time.UTC) }
